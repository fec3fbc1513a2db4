import { StateUnavailable } from '../../evm/errors.js'
import { equalBytes } from '../../lib/bytes.js'
import type { ChainReader, StoredBlock } from '../../store/chain/types.js'
import type { ResolvedBlocks } from './context.js'
import { beyondHead, RpcError, SERVER_ERROR } from './errors.js'
import type { BlockId } from './params.js'

/** Error of `eth_call` and state methods for an unknown block. */
export const HEADER_NOT_FOUND = { code: SERVER_ERROR, message: 'header not found' } as const
/** Error of the same methods if the state of a block is not stored. */
export const STATE_NOT_HELD = { code: SERVER_ERROR, message: 'historical state N is not available' } as const

/** Error of methods that read a block by number, for one below the first block of the database. */
export const BLOCK_NOT_HELD = { code: SERVER_ERROR, message: 'block N is not held, the first block is M' } as const

/** True for the message of a block whose state is not stored. */
export function isStateNotHeld(message: string): boolean {
  return /^historical state \d+ is not available$/.test(message)
}

/** The number that stands for a block: `earliest` is 0 even where block 0 is not held; `latest` and `pending` are the head.
 *  Undefined when nothing is held, for a hash that is not known, and for `safe` and `finalized` as long as no block is. A
 *  number need not be held. */
export function resolveNumber(chain: ChainReader, id: BlockId): number | undefined {
  if (typeof id === 'number') return id
  if (id === 'earliest') return 0
  if (id === 'latest' || id === 'pending') return chain.head()
  if (typeof id !== 'string') return chain.blockNumberByHash(id.hash)
  const number = chain.finality()?.[id]
  return number === -1 ? undefined : number
}

/** True while the last block of a resolved range is canonical, and with it all blocks below. */
export function isCanonical(chain: ChainReader, { toBlock, hash }: ResolvedBlocks): boolean {
  const now = toBlock === chain.head() ? chain.headHash() : chain.blockHash(toBlock)
  return now !== undefined && equalBytes(now, hash)
}

/** The block; undefined if it does not exist yet or its hash is unknown. `pending` is the head.
 *  @throws RpcError `block N is not held` for a number below the first block of the database: null would say that there is no
 *    such block */
export function findBlock(chain: ChainReader, id: BlockId): StoredBlock | undefined {
  const number = resolveNumber(chain, id)
  const block = number === undefined ? undefined : chain.blockByNumber(number)
  if (block === undefined && number !== undefined) requireHeld(chain, number)
  return block
}

function requireHeld(chain: ChainReader, number: number): void {
  const first = chain.coverage()?.first
  if (first === undefined || number >= first) return
  throw new RpcError(SERVER_ERROR, `block ${number} is not held, the first block is ${first}`)
}

/** The number of a block whose state is stored. @throws RpcError `header not found` for a block beyond the head, with the
 *  head in its data, or an unknown hash @throws StateUnavailable for a block up to the head without its state. */
export function requireStateBlock(chain: ChainReader, id: BlockId): number {
  const coverage = chain.coverage()
  const isHead = id === 'latest' || id === 'pending'
  const number = isHead ? coverage?.head : resolveNumber(chain, id) // one read for both, on the path of every call
  if (number === undefined || !coverage) throw new RpcError(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message)
  if (number > coverage.head) throw beyondHead(HEADER_NOT_FOUND.code, HEADER_NOT_FOUND.message, coverage.head)
  if (coverage.stateFirst === undefined || number < coverage.stateFirst) throw new StateUnavailable(number)
  return number
}
