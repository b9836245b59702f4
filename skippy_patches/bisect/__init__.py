"""From which commit of upstream a patch no longer applies: git's bisection, with our engine as its test."""
