"""Gives the pods that the objects on standard input would make, as a list."""
import json
import sys


def objects(text):
    """The JSON documents of kubectl, which writes them one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        doc, at = decoder.raw_decode(text, at)
        yield from doc.get("items", [doc])
        while at < len(text) and text[at].isspace():
            at += 1


def template(o):
    """The pod template of an object that has one."""
    spec = o.get("spec", {})
    if o["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return spec.get("template")


pods = []
for o in objects(sys.stdin.read().strip()):
    t = template(o) if o["kind"] in ("CronJob", "Job", "Deployment") else None
    if t:
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": o["metadata"]["name"], "labels": t["metadata"]["labels"]}, "spec": t["spec"]})
if pods:
    json.dump({"apiVersion": "v1", "kind": "List", "items": pods}, sys.stdout)
