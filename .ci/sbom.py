"""The packages of an environment as a CycloneDX SBOM: what was resolved for the wheel that is installed there.

    python .ci/sbom.py empty/bin/python > dist/probtruth-0.1.0.cdx.json

reads the metadata that installers left, runs nothing but the interpreter, and has the same bytes for the same packages.
"""

import json
import re
import subprocess
import sys

READ = """
import json
from importlib.metadata import distributions
rows = []
for one in distributions():
    meta = one.metadata
    licences = [meta["License-Expression"] or "", *(c for c in meta.get_all("Classifier") or [] if c[:7] == "License")]
    needs = [need for need in one.requires or [] if "extra ==" not in need]
    rows.append([meta["Name"], one.version, [text for text in licences if text], needs])
print(json.dumps(rows))
"""


def normal(name: str) -> str:
    """The name as package URLs have it."""
    return name.lower().replace("_", "-").replace(".", "-")


def sbom(rows: list[tuple[str, str, list[str], list[str]]], product: str) -> dict[str, object]:
    """The document for packages (name, version, licences, requirements), one of which is the product."""
    versions = {normal(name): version for name, version, _, _ in rows}
    links = {name: f"pkg:pypi/{name}@{version}" for name, version in versions.items()}
    parts, needs = {}, {}
    for name, version, licences, requires in rows:
        own = normal(name)
        words = [licences[0].rsplit(" :: ", 1)[-1]] if licences else []
        parts[own] = {
            "type": "library",
            "bom-ref": links[own],
            "name": name,
            "version": version,
            "purl": links[own],
            **({"licenses": [{"license": {"name": words[0]}}]} if words else {}),
        }
        named = {normal(match[0]) for match in map(re.compile(r"[A-Za-z0-9._-]+").match, requires) if match}
        needs[own] = {"ref": links[own], "dependsOn": sorted(links[need] for need in named if need in links)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": parts.pop(product)},
        "components": [parts[name] for name in sorted(parts)],
        "dependencies": [needs[name] for name in sorted(needs)],
    }


def main(python: str) -> None:
    """Prints the document of an interpreter's environment."""
    rows = json.loads(subprocess.run([python, "-I", "-c", READ], check=True, capture_output=True, text=True).stdout)
    print(json.dumps(sbom(rows, "probtruth"), indent=2, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1])
