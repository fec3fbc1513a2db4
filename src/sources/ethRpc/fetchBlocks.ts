import { decodeBlock, transactionsRlp } from '../../chain/eth/block.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block } from '../../chain/eth/types.js'
import { verifyBodyRoots } from '../../chain/eth/verifyRoots.js'
import { equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { createPause } from '../../lib/pause.js'
import type { SendersAhead } from '../senders/sendersAhead.js'
import type { RawBlock } from '../source.js'
import { MalformedAnswer, UpstreamInvalidResponse, UpstreamLacksData, UpstreamRpcError } from '../upstreams/errors.js'
import { isNotFound } from '../upstreams/features.js'
import { askOptional } from '../upstreams/optionalMethods.js'
import type { Upstream } from '../upstreams/upstream.js'
import { decodeBlockJson, decodeHeaderJson, decodeUncleHashes } from './blockJson.js'
import { checked } from './checked.js'
import { fetchReceipts } from './fetchReceipts.js'
import { parseData, readFields } from './fields.js'
import type { UpstreamBlockId, UpstreamHeader } from './types.js'

/** Returns the blocks of an upstream, in the order of the ids, verified as `EthRpc.getBlock` says; undefined for those
 *  that it does not have. With `ahead` another thread recovers senders, where the upstream returns blocks in RLP.
 *  @throws UpstreamInvalidResponse for one that fails a check; UpstreamError. */
export async function fetchBlocks(
  upstream: Upstream,
  ids: readonly UpstreamBlockId[],
  { withReceipts, ahead, signal }: { withReceipts: boolean; ahead?: SendersAhead; signal?: AbortSignal },
): Promise<(RawBlock | undefined)[]> {
  const blocks = (await fetchRaw(upstream, ids, { ahead, signal })) ?? (await fetchJson(upstream, ids, signal))
  if (!withReceipts) return blocks.map((block) => block && { block, hasVerifiedRoots: true })
  const held = blocks.filter((block) => block !== undefined)
  const receipts = await fetchReceipts(upstream, held, signal)
  const byBlock = new Map(held.map((block, i) => [block, receipts[i]]))
  return blocks.map((block) => block && { block, hasVerifiedRoots: true, receipts: byBlock.get(block) })
}

/** Returns a header of an upstream; undefined where it does not have it, or does not know the tag.
 *  @throws UpstreamInvalidResponse when its hash differs; UpstreamError. */
export async function fetchHeader(
  upstream: Upstream,
  id: UpstreamBlockId,
  signal?: AbortSignal,
): Promise<UpstreamHeader | undefined> {
  let value: unknown
  try {
    value = await upstream.call(...blockCall(id, false), signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if ((id === 'safe' || id === 'finalized') && error instanceof UpstreamRpcError) return undefined
    throw error
  }
  if (value === null) return undefined
  const decoded = checked(upstream, numberOf(id), () => decodeHeaderJson(value, upstream.spec))
  requireAsked(upstream, id, decoded.header.number, decoded.hash)
  return { ...decoded, upstream: upstream.name }
}

/** Returns the hash of a block as an upstream reports it, 32 bytes, not recomputed; undefined where it does not have
 *  the block. @throws UpstreamInvalidResponse, UpstreamError */
export async function fetchHash(
  upstream: Upstream,
  blockNumber: number,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  const value = await upstream.call(...blockCall(blockNumber, false), signal)
  return value === null ? undefined : checked(upstream, blockNumber, () => readFields(value, 'block').fixed('hash', 32))
}

/** Returns the newest header of an upstream. @throws UpstreamError, also when it has none. */
export async function fetchHead(upstream: Upstream, signal?: AbortSignal): Promise<UpstreamHeader> {
  const head = await fetchHeader(upstream, 'latest', signal)
  if (head) return head
  const error = new MalformedAnswer(upstream.name, 'expected a head, got null')
  upstream.failed(error)
  throw error
}

async function fetchRaw(
  upstream: Upstream,
  ids: readonly UpstreamBlockId[],
  { ahead, signal }: { ahead?: SendersAhead; signal?: AbortSignal },
): Promise<(Block | undefined)[] | undefined> {
  const params = ids.map((id) => [formatId(id)])
  const results = await askOptional(upstream, 'debug_getRawBlock', params, signal)
  if (!results) return undefined
  const raws = results.map((result) => (result === null ? undefined : parseData(result)))
  const begun = ahead?.begin(raws.map((raw) => raw && transactionsRlp(raw)))
  await begun?.finished
  return verifyEach(upstream, ids, (i) => {
    if (results[i] === null) return undefined
    const bytes = raws[i]
    if (!bytes) throw new DecodeError('block', 'expected hex data')
    return decodeBlock(bytes, begun?.senders[i], familyOf(upstream.spec))
  })
}

async function fetchJson(
  upstream: Upstream,
  ids: readonly UpstreamBlockId[],
  signal: AbortSignal | undefined,
): Promise<(Block | undefined)[]> {
  const calls = ids.map((id) => blockCall(id, true)).map(([method, params]) => ({ method, params }))
  const answers = await upstream.request(calls, signal)
  const values = answers.map((answer, i) => {
    try {
      return upstream.resultOf(calls[i].method, answer)
    } catch (error) {
      if (isNotFound(error)) return null
      throw error
    }
  })
  const uncles = await fetchUncles(upstream, ids, values, signal)
  return verifyEach(upstream, ids, (i) =>
    values[i] === null ? undefined : decodeBlockJson(values[i], uncles[i], upstream.spec),
  )
}

/** Returns the uncles' objects of each block object. */
async function fetchUncles(
  upstream: Upstream,
  ids: readonly UpstreamBlockId[],
  values: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<unknown[][]> {
  const wanted = values.flatMap((value, i) => {
    if (value === null) return []
    const { count, hash } = checked(upstream, numberOf(ids[i]), () => {
      // The header is checked first: the number of uncles must not be invented.
      return { count: decodeUncleHashes(value).length, hash: decodeHeaderJson(value, upstream.spec).hash }
    })
    return Array.from({ length: count }, (_, index) => ({
      block: i,
      params: [formatData(hash), formatQuantity(index)],
    }))
  })
  const uncles: unknown[][] = values.map(() => [])
  if (wanted.length === 0) return uncles
  const method = 'eth_getUncleByBlockHashAndIndex'
  const answers = await upstream.request(
    wanted.map(({ params }) => ({ method, params })),
    signal,
  )
  for (const [i, { block }] of wanted.entries()) {
    const uncle = upstream.resultOf(method, answers[i])
    if (uncle === null) throw new UpstreamLacksData(upstream.name, `an uncle of ${describeId(ids[block])}`)
    uncles[block].push(uncle)
  }
  return uncles
}

/** Decodes and verifies block by block, yielding to the event loop now and then. */
async function verifyEach(
  upstream: Upstream,
  ids: readonly UpstreamBlockId[],
  decode: (index: number) => Block | undefined,
): Promise<(Block | undefined)[]> {
  const pause = createPause(20)
  const family = familyOf(upstream.spec)
  const blocks: (Block | undefined)[] = []
  for (const [i, id] of ids.entries()) {
    await pause()
    const block = checked(upstream, numberOf(id), () => {
      const decoded = decode(i)
      if (decoded) verifyBodyRoots(decoded, family)
      return decoded
    })
    if (block) requireAsked(upstream, id, block.header.number, block.hash)
    blocks.push(block)
  }
  return blocks
}

/** @throws UpstreamInvalidResponse when it is not the requested block. */
function requireAsked(upstream: Upstream, id: UpstreamBlockId, blockNumber: number, hash: Uint8Array): void {
  const isOther = typeof id === 'number' ? blockNumber !== id : id instanceof Uint8Array && !equalBytes(hash, id)
  if (!isOther) return
  const check = typeof id === 'number' ? 'block number' : 'block hash'
  const actual = typeof id === 'number' ? blockNumber : formatData(hash)
  throw new UpstreamInvalidResponse(upstream.name, { check, problem: `expected ${describeId(id)}, got ${actual}` })
}

function blockCall(id: UpstreamBlockId, whole: boolean): [method: string, params: unknown[]] {
  return [id instanceof Uint8Array ? 'eth_getBlockByHash' : 'eth_getBlockByNumber', [formatId(id), whole]]
}

function formatId(id: UpstreamBlockId): string {
  if (typeof id === 'number') return formatQuantity(id)
  return id instanceof Uint8Array ? formatData(id) : id
}

function numberOf(id: UpstreamBlockId): number | undefined {
  return typeof id === 'number' ? id : undefined
}

/** Formats an id for messages. */
export function describeId(id: UpstreamBlockId): string {
  return `block ${id instanceof Uint8Array ? formatData(id) : id}`
}
