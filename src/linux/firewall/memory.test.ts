import { firewallCompliance } from "./compliance.test-kit.ts";
import { createMemoryFirewall } from "./memory.ts";

firewallCompliance("twin", () => {
  const driver = createMemoryFirewall();
  return {
    driver,
    mutations: () => driver.mutations,
    flush: async () => driver.flushedByOthers(),
    dropForwarded: async () => driver.setForeignDrops(["a chain"]),
  };
});
