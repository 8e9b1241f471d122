/** What the demo says before and after. Pure. */
import type { Lab } from "./lab.ts";
import type { Scenario } from "./scenario.ts";

export function demoIntroduction(scenario: Scenario): string {
  const places = (scenario.places ?? []).map((place) => {
    const nodes = place.hosts.map((host) => host.name).join(" and ");
    const how = place.nat === undefined ? "each with a public address" : `behind NAT (${place.nat.address})`;
    return `  ${place.name}: ${nodes}, ${how}`;
  });
  const peers = (scenario.hosts ?? []).filter((host) => host.role?.kind === "peer");
  const outside = peers.map((host) => `  ${host.name}: an external peer that calls in`);
  return ["Building one network out of:", ...places, ...outside, ""].join("\n");
}

export function demoSuggestions(lab: Lab): string {
  const [first, second] = lab.nodes;
  const pod = second?.pods[0]?.address ?? "";
  const agent = first?.kg?.pid ?? 0;
  const [device] = first?.processes("wireguard-go") ?? [];
  const laptop = lab.peers[0];
  return [
    "The mesh is up and stays up until Ctrl-C. In another terminal:",
    "",
    `  export KUBECONFIG=${lab.controlPlane.kubeconfig}`,
    "  kubectl get nodes -o wide",
    "  kubectl get peers",
    `  kubectl describe node ${first?.name}`,
    `  kubectl annotate node ${second?.name} kilo.squat.ai/leader=true     # it leads its place now`,
    `  kubectl delete peer ${laptop?.name}                             # and the laptop is out`,
    "",
    `  nsenter -t ${laptop?.site.pid} -a ping ${pod}                  # from the laptop to a pod`,
    `  nsenter -t ${first?.site.pid} -a wg show                           # a look at ${first?.name}`,
    `  kill -9 ${agent}                                          # kg of ${first?.name}: packets go on, it is started again`,
    ...(device === undefined
      ? []
      : [
          `  kill -9 ${device}                                          # its wireguard-go: back within seconds`,
        ]),
    "",
    `  logs: ${lab.state.path}/hosts/*/kg.log`,
    "",
  ].join("\n");
}
