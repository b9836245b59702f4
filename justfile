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

# build and run the native tests of the queue itself
native-test recipe="cpu":
    {{bin}}/skippy-patches test --recipe {{recipe}} -R skippy

# run every test there is: Python, the whole road, every native test
test-all: test test-thorough
    {{bin}}/python -m pytest -m e2e
    {{bin}}/skippy-patches test

# measure what is promised about speed, side by side with bare Python
bench:
    {{bin}}/python benchmarks/bench_hook.py
    {{bin}}/python benchmarks/bench_check.py
    {{bin}}/python benchmarks/bench_apply.py

# run the checkers
lint:
    {{bin}}/ruff check .
    {{bin}}/ruff format --check .
    {{bin}}/mypy
    {{bin}}/lint-imports
