#!/usr/bin/env python3
"""count_tests.py FOLDER: sums up the results that GoogleTest has written there as JSON, and says which tests failed or were skipped."""

import json
import pathlib
import sys


def main():
    passed, failed, skipped = 0, [], []
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
        for suite in json.loads(file.read_text(encoding="utf-8"))["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{file.stem}: {suite['name']}.{test['name']}"
                if "failures" in test:
                    failed.append(name)
                elif test.get("result") == "SKIPPED":
                    skipped.append(name)
                elif test.get("status") == "RUN":
                    passed += 1
    for name in failed:
        print(f"FAILED  {name}")
    for name in skipped:
        print(f"skipped {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")


main()
