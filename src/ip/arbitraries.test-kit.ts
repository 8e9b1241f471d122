/** What the property tests of prefixes draw from. For tests only. */
import fc from "fast-check";
import { type Address, type Family, familyBits, makeAddress } from "./address.ts";
import { makePrefix, type Prefix } from "./prefix.ts";

/** Any address; numbers with few bits set are as likely as dense ones, so that runs of zeros are common. */
export function anyAddress(): fc.Arbitrary<Address> {
  return fc.constantFrom<Family>(4, 6).chain((family) => {
    const highest = (1n << BigInt(familyBits(family))) - 1n;
    const dense = fc.bigInt({ min: 0n, max: highest });
    return fc
      .tuple(dense, dense, fc.boolean())
      .map(([value, mask, sparse]) => makeAddress(family, sparse ? value & mask & (mask >> 13n) : value));
  });
}

/** Any prefix of either family. */
export function anyPrefix(): fc.Arbitrary<Prefix> {
  return anyAddress().chain((address) =>
    fc.integer({ min: 0, max: familyBits(address.family) }).map((length) => makePrefix(address, length)),
  );
}

/** Bits that a crowded prefix may leave open: 16 addresses, so that a test can look at each. */
const CROWDED_BITS = 4;

/** Prefixes inside one network of 16 addresses (10.0.0.0/28 or fd00::/124): they meet, nest and repeat all the time. */
export function crowdedPrefix(): fc.Arbitrary<Prefix> {
  return fc
    .tuple(
      fc.constantFrom<Family>(4, 6),
      fc.integer({ min: 0, max: 2 ** CROWDED_BITS - 1 }),
      fc.integer({ min: 0, max: CROWDED_BITS }),
    )
    .map(([family, offset, open]) =>
      makePrefix(makeAddress(family, crowdedBase(family) + BigInt(offset)), familyBits(family) - open),
    );
}

/** Every address of the two networks that `crowdedPrefix` draws from. */
export function crowdedAddresses(): Address[] {
  const families: readonly Family[] = [4, 6];
  return families.flatMap((family) =>
    Array.from({ length: 2 ** CROWDED_BITS }, (_, i) => makeAddress(family, crowdedBase(family) + BigInt(i))),
  );
}

function crowdedBase(family: Family): bigint {
  return family === 4 ? 10n << 24n : 0xfd00n << 112n;
}
