/** Text for `nft -f -`. Pure. */
import { comparePrefixes, type Family, type Prefix } from "../../ip/index.ts";
import { type Firewall, type LinkRole, NFT_TABLE, SET_NAMES, type SetChange } from "../../mesh/index.ts";
import { fixedChains, type Hook, kernelSetName, type Shape, shapeOf, TABLE_FAMILY } from "./rules.ts";

const FAMILIES: readonly Family[] = [4, 6];

/** The whole table anew, in one transaction: there is no moment without it. Connections that are already tracked keep their addresses. */
export function renderTable(firewall: Firewall, nameOf: (role: LinkRole) => string | undefined): string {
  const shape = shapeOf(firewall, nameOf);
  const table = `${TABLE_FAMILY} ${NFT_TABLE}`;
  return [
    // `delete` fails without a table, so it is made first.
    `add table ${table}`,
    `delete table ${table}`,
    `table ${table} {`,
    ...SET_NAMES.flatMap((name) =>
      FAMILIES.flatMap((family) => renderSet(kernelSetName(name, family), family, firewall.sets[name])),
    ),
    ...renderChains(shape),
    "}",
    "",
  ].join("\n");
}

/** Only elements, in one transaction. What is removed goes first: what is added may overlap it. */
export function renderElements(changes: readonly SetChange[]): string {
  const remove = changes.flatMap((change) => elementLines("delete", change, change.remove));
  const add = changes.flatMap((change) => elementLines("add", change, change.add));
  return [...remove, ...add, ""].join("\n");
}

/** The text that removes the table, whether or not there is one. */
export function renderRemoval(): string {
  return `add table ${TABLE_FAMILY} ${NFT_TABLE}\ndelete table ${TABLE_FAMILY} ${NFT_TABLE}\n`;
}

function renderSet(name: string, family: Family, prefixes: readonly Prefix[]): string[] {
  const elements = ofFamily(prefixes, family);
  return [
    `  set ${name} {`,
    `    type ${family === 4 ? "ipv4_addr" : "ipv6_addr"}`,
    "    flags interval",
    ...(elements.length === 0 ? [] : [`    elements = { ${elements.join(", ")} }`]),
    "  }",
  ];
}

function renderChains(shape: Shape): string[] {
  return fixedChains(shape).flatMap((chain) => [
    `  chain ${chain.name} {`,
    ...(chain.hook === undefined ? [] : [`    ${hookText(chain.hook)}`]),
    ...chain.rules.map((rule) => `    ${rule.text} comment "${rule.comment}"`),
    "  }",
  ]);
}

function hookText(hook: Hook): string {
  return `type ${hook.type} hook ${hook.name} priority ${hook.priority}; policy accept;`;
}

function elementLines(verb: "add" | "delete", change: SetChange, prefixes: readonly Prefix[]): string[] {
  return FAMILIES.flatMap((family) => {
    const elements = ofFamily(prefixes, family);
    if (elements.length === 0) return [];
    return [
      `${verb} element ${TABLE_FAMILY} ${NFT_TABLE} ${kernelSetName(change.set, family)} { ${elements.join(", ")} }`,
    ];
  });
}

function ofFamily(prefixes: readonly Prefix[], family: Family): string[] {
  return prefixes
    .filter((prefix) => prefix.family === family)
    .sort(comparePrefixes)
    .map((prefix) => prefix.text);
}
