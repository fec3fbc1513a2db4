import { delegationOf } from '../chain/eth/delegation.js'
import { bigIntToFixedBytes, equalBytes, leadingZeros } from '../lib/bytes.js'
import { parseHex } from '../lib/hex.js'
import { hasStateAfter } from '../store/rows/coverage.js'
import type { ChainReader } from '../store/rows/types.js'
import { MissingState } from '../store/state/missingState.js'
import type { StateReads } from '../store/state/stateReader.js'

/** Returns the contracts, 20 bytes each, that may run the calls of the contract at `address` after the block: none
 *  unless it is a proxy, or its state is not known. */
export type ImplementationReader = (address: Uint8Array, blockNumber: number) => Uint8Array[]

/** A reader for decoders without state. */
export const noImplementations: ImplementationReader = () => []

// Keccak-256 of eip1967.proxy.implementation and eip1967.proxy.beacon, minus 1 (EIP-1967).
const IMPLEMENTATION_SLOT = parseHex('0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc')
const BEACON_SLOT = parseHex('0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50')

/** EIP-1967 has the beacon answer a call. OpenZeppelin's has the implementation in slot 1, behind the owner; others in
 *  slot 0. */
const BEACON_SLOTS = [1n, 0n].map((slot) => bigIntToFixedBytes(slot, 32))

// EIP-1167: the address is between the two.
const MINIMAL_START = parseHex('0x363d3d373d3d3d363d73')
const MINIMAL_END = parseHex('0x5af43d82803e903d91602b57fd5bf3')

/** Creates a reader of a database: minimal proxies (EIP-1167), accounts that delegate (EIP-7702), and proxies with an
 *  implementation or a beacon (EIP-1967). */
export function createImplementationReader(
  chain: Pick<ChainReader, 'coverage'>,
  state: Pick<StateReads, 'code' | 'storage'>,
): ImplementationReader {
  return (address, blockNumber) => {
    if (!hasStateAfter(chain.coverage(), blockNumber)) return []
    try {
      const code = state.code(address, blockNumber)
      if (code.length === 0) return []
      const named = implementationOfCode(code)
      if (named !== undefined) return [named]
      const read = (account: Uint8Array, slot: Uint8Array) => addressOfWord(state.storage(account, slot, blockNumber))
      const implementation = read(address, IMPLEMENTATION_SLOT)
      if (implementation !== undefined) return [implementation]
      const beacon = read(address, BEACON_SLOT)
      if (beacon === undefined) return []
      return BEACON_SLOTS.flatMap((slot) => read(beacon, slot) ?? [])
    } catch (error) {
      // With sparse state: names are not worth a request to the upstream.
      if (error instanceof MissingState) return []
      throw error
    }
  }
}

function implementationOfCode(code: Uint8Array): Uint8Array | undefined {
  const delegate = delegationOf(code)
  if (delegate !== undefined) return delegate
  const isMinimal = startsWith(code, MINIMAL_START, 0) && startsWith(code, MINIMAL_END, MINIMAL_START.length + 20)
  return isMinimal ? code.subarray(MINIMAL_START.length, MINIMAL_START.length + 20) : undefined
}

function startsWith(bytes: Uint8Array, part: Uint8Array, at: number): boolean {
  return equalBytes(bytes.subarray(at, at + part.length), part)
}

/** The address in a word of 32 bytes; undefined for zero and for numbers beyond 160 bits. */
function addressOfWord(word: Uint8Array): Uint8Array | undefined {
  const zeros = leadingZeros(word)
  return zeros >= 12 && zeros < 32 ? word.subarray(12) : undefined
}
