"""A preprocessor of mdbook: links that leave the book lead to the repository, or become plain text.

AGON_REPOSITORY is the address of the repository's files, such as https://HOST/NAME/blob/main. Without it, a link such as
[the rules](../crates/x/README.md) becomes "the rules (crates/x/README.md)".
"""

import json
import os
import re
import sys

LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(\.\./([^)\s]+)\)")


def rewrite(text, repository):
    if repository:
        return LINK.sub(lambda link: f"[{link[1]}]({repository}/{link[2]})", text)
    return LINK.sub(lambda link: f"{link[1]} (`{link[2]}`)", text)


def walk(items, repository):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter:
            chapter["content"] = rewrite(chapter["content"], repository)
            walk(chapter["sub_items"], repository)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    # The list is called `items` since mdbook 0.5, and `sections` before.
    walk(book.get("items") or book.get("sections") or [], os.environ.get("AGON_REPOSITORY", "").rstrip("/"))
    json.dump(book, sys.stdout)


main()
