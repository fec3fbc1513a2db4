import * as starknet from '@scure/starknet'

/** Returns the library of Starknet's curve and hashes. In bundles, the first call loads it (scripts/bundleEntries.mjs):
 *  its constants take each thread 20 ms of processor time. */
export const curve = (): typeof starknet => starknet
