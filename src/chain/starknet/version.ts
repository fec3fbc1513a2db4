/** How a block's hash and commitments are made (Starknet documentation, "Block hash", and its release notes):
 *  - `pedersen`: before 0.11.1; only signatures of invoke transactions are covered
 *  - `pedersen-signatures`: 0.11.1 to below 0.13.2; all signatures are covered
 *  - `poseidon-0`: 0.13.2 to below 0.13.4
 *  - `poseidon-1`: from 0.13.4 on; covers the price of L2 gas */
export type L2HashRules = 'pedersen' | 'pedersen-signatures' | 'poseidon-0' | 'poseidon-1'

/** The rules of a block with this version; the empty text is from before versions were named. Undefined for text that
 *  is no version. */
export function hashRulesOf(version: string): L2HashRules | undefined {
  if (version === '') return 'pedersen'
  if (!/^\d{1,5}(\.\d{1,5}){1,3}$/.test(version)) return undefined
  const parts = version.split('.').map(Number)
  if (isBefore(parts, [0, 11, 1])) return 'pedersen'
  if (isBefore(parts, [0, 13, 2])) return 'pedersen-signatures'
  return isBefore(parts, [0, 13, 4]) ? 'poseidon-0' : 'poseidon-1'
}

function isBefore(parts: readonly number[], other: readonly number[]): boolean {
  for (let i = 0; i < other.length; i++) {
    const part = parts[i] ?? 0
    if (part !== other[i]) return part < other[i]
  }
  return false
}
