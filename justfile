# Every recipe only calls the CLI or a test tool. just itself: pip install rust-just (it is in .venv too).

bin := justfile_directory() / ".venv/bin"

# list the recipes
default:
    @just --list

# make .venv with everything that development wants
setup:
    sh scripts/setup.sh dev

# find everything that is wrong with the queue
check *options:
    {{bin}}/skippy-patches check {{options}}

# put the queue on the pin
apply *options:
    {{bin}}/skippy-patches apply {{options}}

# build a recipe
build recipe="cpu" *options:
    {{bin}}/skippy-patches build --recipe {{recipe}} {{options}}

# run the fast Python tests
test *options:
    {{bin}}/python -m pytest -n auto {{options}}

# run in full what the fast tests try in part: each setting, more kills, more random queues
test-thorough *options:
    {{bin}}/python -m pytest -n auto -m thorough {{options}}

# prepare the queue, build it with its tests, and run those: skipping one, or finding none, fails
native-test recipe="rpc" *options:
    {{bin}}/skippy-patches test --recipe {{recipe}} -R '^test-skippy-' {{options}}

# the same at every prefix of the queue, up to the first that breaks
native-test-each recipe="rpc" *options:
    {{bin}}/skippy-patches test --each --recipe {{recipe}} -R '^test-skippy-' {{options}}

# run every test there is: Python, the whole road with the sanitizers, every native test, every prefix of the queue
test-all: test test-thorough
    {{bin}}/python -m pytest -m e2e
    {{bin}}/skippy-patches test
    {{bin}}/skippy-patches test --each --recipe rpc -R '^test-skippy-'

# measure what is promised about speed, side by side with bare Python
bench:
    {{bin}}/python benchmarks/bench_hook.py
    {{bin}}/python benchmarks/bench_check.py
    {{bin}}/python benchmarks/bench_apply.py
    {{bin}}/python benchmarks/bench_bisect.py

# measure what the queue's own patches promise about speed, prefix against prefix: half an hour, a quiet machine
bench-native *options:
    {{bin}}/python benchmarks/bench_kv_page.py {{options}}

# measure what a shared cache saves: some minutes, and a Redis of its own
bench-cache:
    {{bin}}/python benchmarks/bench_cache.py

# run the checkers
lint:
    {{bin}}/ruff check .
    {{bin}}/ruff format --check .
    {{bin}}/mypy
    {{bin}}/lint-imports
