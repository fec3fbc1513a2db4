import * as starknet from '@scure/starknet'

/** Hashes and points of Starknet's curve. In bundles, the library is loaded with the first call (scripts/bundleEntries.mjs):
 *  its constants take each thread 20 ms of processor time. */
export const curve = (): typeof starknet => starknet
