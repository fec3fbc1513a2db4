import { keccak256 } from '../../chain/crypto.js'
import { type BlockAccessList, decodeBlockAccessList } from '../../chain/eth/blockAccessList.js'
import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block } from '../../chain/eth/types.js'
import { equalBytes } from '../../lib/bytes.js'
import type { RawBlock } from '../../sources/source.js'
import { StateNotAtUpstream } from '../../sources/upstreams/errors.js'
import type { StateSource } from './stateSource.js'

/** Returns the access list of a block with the hash of its header (EIP-7928): the one that it comes with, or one of an
 *  upstream. @throws StateNotAtUpstream when all lack it; UpstreamError */
export async function requireAccessList(
  { block, blockAccessList }: RawBlock,
  source: Pick<StateSource, 'accessList'> | undefined,
): Promise<Uint8Array> {
  const { number, blockAccessListHash: expected } = block.header
  const isOwn = blockAccessList && expected && equalBytes(keccak256(blockAccessList), expected)
  const found = isOwn ? blockAccessList : expected && (await source?.accessList?.(block))
  if (found) return found
  const reason = expected ? 'no upstream has its access list' : 'it is before Amsterdam, and has no access list'
  throw new StateNotAtUpstream('the upstreams', { blockNumber: number, reason })
}

/** Decodes the access list of a block. @throws InvalidBlock with the check `block access list` */
export function decodeListed({ hash, header }: Block, list: Uint8Array): BlockAccessList {
  try {
    return decodeBlockAccessList(list)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new InvalidBlock({
      ...{ blockNumber: header.number, blockHash: hash, check: 'block access list' },
      ...{ expected: 'a list of accounts', actual: error.message, cause: error },
    })
  }
}
