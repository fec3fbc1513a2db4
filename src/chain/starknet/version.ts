/** Rules for block hashes and commitments (Starknet documentation, "Block hash", and release notes):
 *  - `pedersen`: before 0.11.1; covers signatures of INVOKE transactions only
 *  - `pedersen-signatures`: 0.11.1 to below 0.13.2; covers all signatures
 *  - `poseidon-0`: 0.13.2 to below 0.13.4
 *  - `poseidon-1`: since 0.13.4; covers the L2 gas price */
export type L2HashRules = 'pedersen' | 'pedersen-signatures' | 'poseidon-0' | 'poseidon-1'

/** The rules for a Starknet version; '' stands for blocks older than version numbers. Undefined when the text is not a
 *  version. */
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
