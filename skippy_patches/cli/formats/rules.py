"""What each code of a finding stands for, in a sentence: the rules of a SARIF log."""

from __future__ import annotations

DESCRIPTIONS = {
    "bad-date": "The Date: header cannot be read.",
    "case-collision": "Names of patches differ only in upper and lower case.",
    "claimed-number": "Another branch has a patch with the number of one of these.",
    "conflict-markers": "git's conflict markers stand in the patch file.",
    "corrupt-diff": "A file's diff has no header that git can read, or changes nothing.",
    "corrupt-hunk": "A hunk does not hold what its @@ line announces.",
    "crlf-envelope": "The patch file itself has CR LF line ends.",
    "dep3-value": "A required DEP-3 field has a value that DEP-3 does not know.",
    "does-not-apply": "A patch of the merged queue does not apply to the pin.",
    "duplicate-number": "Several patches have the same number.",
    "empty-patch": "A patch changes nothing.",
    "gap": "There is a hole in the numbers of the patches.",
    "linked-lane": "A symbolic link is in the place of a folder of the queue.",
    "malformed-name": "A file of the queue is not called NNNN-subject.patch.",
    "merge-conflict": "Two branches change a file of the queue, and git cannot merge it.",
    "merged-configuration": "skippy-patches.yaml cannot be used as the merge leaves it.",
    "missing-binary": "The content of a binary file is not in the patch.",
    "missing-date": "There is no Date: header.",
    "missing-field": "A patch lacks a trailer or DEP-3 field that the project requires.",
    "missing-from": "There is no From: header with a mail address.",
    "missing-lane": "A folder of the queue does not exist.",
    "missing-subject": "There is no Subject: header, or it is empty.",
    "multipart": "The patch is an attachment of a multipart message.",
    "no-prefix": "The diff has no a/ and b/ in front of file names.",
    "not-a-file": "A patch is not a regular file.",
    "not-applied": "Whether the merged queue applies was not tried.",
    "order-inversion": "After the merge a patch is sorted before one that it was authored after.",
    "prefix-change": "After the merge a patch stands on other patches than before.",
    "same-change": "Two patches make the same change.",
    "series-blanks": "Blanks or a CR end a line of the series file.",
    "series-extra": "A patch is not listed in the series file.",
    "series-missing": "The series file lists a patch that is not there.",
    "series-option": "A line of the series file has options behind the name.",
    "series-outside": "The series file lists a patch outside its folder.",
    "series-twice": "The series file lists a patch twice.",
    "stripped-blanks": "Blank context lines are missing at the end of a hunk.",
    "through-symlink": "A patch writes below a symbolic link that the queue makes.",
    "truncated-binary": "A binary patch is damaged or cut short.",
    "two-messages": "The file holds more than one message.",
    "unmerged": "A patch has a merge conflict in the index.",
    "unsafe-path": "A patch names a path outside the tree or in git's own folder.",
    "unsafe-symlink": "A patch makes a symbolic link out of the tree or into git's own folder.",
    "zoneless-date": "The Date: header has no time zone.",
}


def description(code: str) -> str:
    """The sentence; for a code without one its words."""
    return DESCRIPTIONS.get(code) or f"{code.replace('-', ' ').capitalize()}."
