"""The command line: parse, call one stage, render. Nothing else prints."""
