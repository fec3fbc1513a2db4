import type { Decoder, KnownAbi } from '../../decoding/decoder.js'
import { equalBytes } from '../../lib/bytes.js'

/** The added ABIs that are bound to a contract (20 bytes), then those bound to what runs its calls after a block. */
export function abisThatRun(decoder: Decoder, account: Uint8Array, blockNumber: number): KnownAbi[] {
  return boundAbis(decoder, [account, ...decoder.implementations(account, blockNumber)])
}

/** ABIs bound to one of the addresses, in the order of these. */
export function boundAbis({ abis }: Decoder, addresses: readonly Uint8Array[]): KnownAbi[] {
  return addresses.flatMap((wanted) => abis.filter((abi) => abi.address && equalBytes(abi.address, wanted)))
}
