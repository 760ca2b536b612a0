"""Counts the targets of a `bazel test` that passed and that failed.

    count_tests.py BUILD_EVENT_JSON_FILE

A target that is no test counts only if it does not build, as failed. Skipped targets
(those for a GPU, say) count as neither.
"""

import json
import sys


def main(path: str) -> None:
    passed, failed = set(), set()
    with open(path, encoding="utf-8") as events:
        for line in events:
            event = json.loads(line)
            if summary := event["id"].get("testSummary"):
                good = event.get("testSummary", {}).get("overallStatus") == "PASSED"
                (passed if good else failed).add(summary["label"])
            elif completed := event["id"].get("targetCompleted"):
                skipped = event.get("aborted", {}).get("reason") == "SKIPPED"
                if not skipped and not event.get("completed", {}).get("success"):
                    failed.add(completed["label"])
    print(len(passed - failed), len(failed))


if __name__ == "__main__":
    main(sys.argv[1])
