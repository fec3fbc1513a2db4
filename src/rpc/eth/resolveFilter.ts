import { TooManyFilterParams } from '../../index/logs/errors.js'
import { countFilterParams, type LogFilter } from '../../index/logs/filter.js'
import type { ChainReader } from '../../store/rows/types.js'
import { canonicalHash, resolveNumber } from '../core/blockId.js'
import type { ResolvedBlocks, RpcContext } from '../core/context.js'
import { beyondHead, INVALID_PARAMS, invalidParams, RpcError, SERVER_ERROR } from '../core/errors.js'
import type { LogFilterObject } from './logFilter.js'

/** The filter with its bounds as block numbers, those of `context.blocks` if the main thread resolved them. @throws
 *  TooManyFilterParams, RpcError for invalid bounds. */
export function resolveFilter({ chain, limits, blocks }: FilterContext, object: LogFilterObject): LogFilter {
  const { addresses, topics } = object
  if (blocks !== undefined) return { fromBlock: blocks.fromBlock, toBlock: blocks.toBlock, addresses, topics }
  const filter: LogFilter = { ...resolveRange(chain, object), addresses, topics }
  const count = countFilterParams(filter)
  if (count > limits.maxFilterParams) throw new TooManyFilterParams({ count, limit: limits.maxFilterParams })
  return filter
}

/** The blocks of a filter; undefined if the last one is not stored. @throws the errors of `resolveFilter` */
export function resolveFilterBlocks(context: FilterContext, object: LogFilterObject): ResolvedBlocks | undefined {
  const { fromBlock, toBlock } = resolveFilter(context, object)
  // The filter's own hash, because another block may have the number by now.
  const hash = object.blockHash ?? canonicalHash(context.chain, toBlock)
  return hash && { fromBlock, toBlock, hash }
}

type FilterContext = Pick<RpcContext, 'chain' | 'limits' | 'blocks'>

/** The bounds of a filter as block numbers, both inclusive; absent ones are the head. @throws RpcError for an unknown
 *  block hash, a reversed range or a range beyond the head */
export function resolveRange(
  chain: ChainReader,
  object: Pick<LogFilterObject, 'blockHash' | 'fromBlock' | 'toBlock'>,
): { fromBlock: number; toBlock: number } {
  if (object.blockHash) {
    const number = chain.blockNumberByHash(object.blockHash)
    if (number === undefined) throw new RpcError(SERVER_ERROR, 'unknown block')
    return { fromBlock: number, toBlock: number }
  }
  const head = chain.head() ?? 0
  const resolve = (id: LogFilterObject['fromBlock'] = 'latest') => {
    const number = resolveNumber(chain, id)
    if (number === undefined && chain.holdsBlocks()) throw new RpcError(SERVER_ERROR, 'unknown block')
    return number ?? head
  }
  const fromBlock = resolve(object.fromBlock)
  const toBlock = resolve(object.toBlock)
  // A range from beyond the head to `latest` is not reversed, only early.
  const early = fromBlock > head && typeof object.toBlock !== 'number'
  if (fromBlock > toBlock && !early) throw invalidParams('invalid block range params')
  if (early || toBlock > head) {
    throw beyondHead(INVALID_PARAMS, 'block range extends beyond current head block', head)
  }
  return { fromBlock, toBlock }
}
