#!/usr/bin/env python3
"""The manifests have only fields of the API, all that it requires, and say what the launcher needs.

    manifests_test.py ROOT_OF_KUBERNETES_API JOBSET_YAML PYTORCHJOB_YAML
"""

import copy
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_models  # noqa: E402

ROOT = pathlib.Path(sys.argv[1]).parent
sys.path.insert(0, str(ROOT))
import yaml  # noqa: E402

MODELS = api_models.ApiModels(ROOT / "models")
JOBSET, PYTORCHJOB = (yaml.safe_load(pathlib.Path(path).read_text()) for path in sys.argv[2:4])
# As the operator's documentation has them; its schema says "str".
OPERATOR_POLICIES = {"Always", "OnFailure", "Never", "ExitCode"}


def variables(container: dict) -> dict[str, str]:
    return {item["name"]: item["value"] for item in container.get("env", [])}


class JobSetTest(unittest.TestCase):

    def check(self, document: dict) -> list[str]:
        return MODELS.check(document, "JobsetV1alpha2JobSet")

    def test_schema(self):
        self.assertEqual((JOBSET["apiVersion"], JOBSET["kind"]), ("jobset.x-k8s.io/v1alpha2", "JobSet"))
        self.assertEqual(self.check(JOBSET), [])

    def test_mistakes_are_found(self):
        def broken(change) -> str:
            document = copy.deepcopy(JOBSET)
            change(document["spec"]["replicatedJobs"][0]["template"]["spec"])
            return "\n".join(self.check(document))

        self.assertIn("has completionmode, and the API has only", broken(lambda job: job.update(completionmode="Indexed")))
        self.assertIn("completions is '2', not of type", broken(lambda job: job.update(completions="2")))
        self.assertIn("completionMode is 'indexed', not one of", broken(lambda job: job.update(completionMode="indexed")))
        self.assertIn("has no template", broken(lambda job: job.pop("template")))
        self.assertIn("has no name", broken(lambda job: job["template"]["spec"]["containers"][0].pop("name")))
        self.assertIn("[0] is 3, not of type StrictStr",
                      broken(lambda job: job["template"]["spec"]["containers"][0].update(args=[3])))

    def test_variables_of_the_launcher(self):
        job = JOBSET["spec"]["replicatedJobs"][0]
        spec = job["template"]["spec"]
        container = spec["template"]["spec"]["containers"][0]
        self.assertEqual(spec["completionMode"], "Indexed")
        self.assertEqual(variables(container)["WORLD_SIZE"], str(spec["completions"]))
        self.assertEqual(spec["parallelism"], spec["completions"])
        # <jobset>-<replicated job>-<job>-<pod>.<subdomain, by default the name of the JobSet>
        name = JOBSET["metadata"]["name"]
        self.assertEqual(variables(container)["MASTER_ADDR"], f"{name}-{job['name']}-0-0.{name}")
        self.assertTrue(JOBSET["spec"]["network"]["enableDNSHostnames"])
        # A rule about exit codes needs this, and names the container.
        self.assertEqual(spec["template"]["spec"]["restartPolicy"], "Never")
        self.assertEqual(spec["podFailurePolicy"]["rules"][0]["onExitCodes"]["containerName"], container["name"])


class PyTorchJobTest(unittest.TestCase):

    def check(self, document: dict) -> list[str]:
        return MODELS.check(document, "KubeflowOrgV1PyTorchJob")

    def test_schema(self):
        self.assertEqual((PYTORCHJOB["apiVersion"], PYTORCHJOB["kind"]), ("kubeflow.org/v1", "PyTorchJob"))
        self.assertEqual(self.check(PYTORCHJOB), [])

    def test_mistakes_are_found(self):
        def broken(change) -> str:
            document = copy.deepcopy(PYTORCHJOB)
            change(document["spec"])
            return "\n".join(self.check(document))

        self.assertIn("has nProcPerNode, and", broken(lambda spec: spec.update(nProcPerNode="4")))
        self.assertIn("nprocPerNode is 4, not of type str", broken(lambda spec: spec.update(nprocPerNode=4)))
        self.assertIn("has no runPolicy", broken(lambda spec: spec.pop("runPolicy")))
        self.assertIn("pytorchReplicaSpecs[Worker].replicas is 'one'",
                      broken(lambda spec: spec["pytorchReplicaSpecs"]["Worker"].update(replicas="one")))
        self.assertIn("has volume, and", broken(
            lambda spec: spec["pytorchReplicaSpecs"]["Worker"]["template"]["spec"].update(volume=[])))

    def test_replicas(self):
        replicas = PYTORCHJOB["spec"]["pytorchReplicaSpecs"]
        self.assertEqual(set(replicas), {"Master", "Worker"})
        self.assertEqual(replicas["Master"]["replicas"], 1)
        for replica in replicas.values():
            self.assertIn(replica["restartPolicy"], OPERATOR_POLICIES)
            containers = replica["template"]["spec"]["containers"]
            # The operator looks for this name.
            self.assertEqual([item["name"] for item in containers], ["pytorch"])
            # Codes above 127 are those that the policy ExitCode starts again.
            self.assertGreater(int(variables(containers[0])["TRAINYARD_CANCELLED_EXIT_CODE"]), 127)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
