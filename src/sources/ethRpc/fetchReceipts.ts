import { familyOf } from '../../chain/eth/families/families.js'
import { decodeReceipt } from '../../chain/eth/receipt.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block, ConsensusReceipt } from '../../chain/eth/types.js'
import { verifyReceipts } from '../../chain/eth/verifyRoots.js'
import { formatData } from '../../lib/hex.js'
import { UpstreamLacksData } from '../upstreams/errors.js'
import { askOptional } from '../upstreams/optionalMethods.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checked } from './checked.js'
import { parseData, readFields } from './fields.js'
import { decodeReceiptJson, requireMembers } from './receiptJson.js'

/** Fetches the receipts of each block by its hash and recomputes receipts root, bloom and gas used.
 *  @throws UpstreamInvalidResponse for receipts that fail a check; UpstreamLacksData; UpstreamError. */
export async function fetchReceipts(
  upstream: Upstream,
  blocks: readonly Block[],
  signal?: AbortSignal,
): Promise<ConsensusReceipt[][]> {
  const asked = blocks.filter(({ transactions }) => transactions.length > 0)
  const lists = asked.length === 0 ? [] : await fetchLists(upstream, asked, signal)
  const byBlock = new Map(asked.map((block, i) => [block, lists[i]]))
  return blocks.map((block) => {
    const { header, hash } = block
    const decode = byBlock.get(block)
    return checked(upstream, header.number, () => {
      const receipts = decode?.() ?? []
      verifyReceipts(header, receipts, { blockHash: hash })
      return receipts
    })
  })
}

/** Decodes the receipts of one block. @throws DecodeError */
type Decode = () => ConsensusReceipt[]

async function fetchLists(upstream: Upstream, blocks: readonly Block[], signal?: AbortSignal): Promise<Decode[]> {
  const byHash = blocks.map(({ hash }) => [formatData(hash)])
  const raw = await askOptional(upstream, 'debug_getRawReceipts', byHash, signal)
  if (raw) {
    return raw.map(
      (list, i) => () =>
        requireList(upstream, list, blocks[i]).map((item, index) => {
          const bytes = parseData(item)
          if (!bytes) throw new DecodeError(`receipts[${index}]`, 'expected hex data')
          return decodeReceipt(bytes, `receipts[${index}]`)
        }),
    )
  }
  const lists =
    (await askOptional(upstream, 'eth_getBlockReceipts', byHash, signal)) ??
    (await fetchOneByOne(upstream, blocks, signal))
  return lists.map((list, i) => () => decodeList(upstream, requireList(upstream, list, blocks[i]), blocks[i]))
}

/** Decodes receipt objects of a block, and compares what its family computes with the members that they have. */
function decodeList(upstream: Upstream, list: readonly unknown[], block: Block): ConsensusReceipt[] {
  const receipts = list.map((receipt, index) => decodeReceiptJson(receipt, block, index))
  const { spec } = upstream
  const { receiptMembers } = familyOf(spec)
  if (spec === undefined || receiptMembers === undefined) return receipts
  const membersOf = receiptMembers(spec, block.header, block.transactions[0])
  for (const [index, transaction] of block.transactions.entries()) {
    requireMembers(readFields(list[index], `receipts[${index}]`), membersOf?.(transaction) ?? {})
  }
  return receipts
}

function requireList(upstream: Upstream, list: unknown, { header, transactions }: Block): unknown[] {
  if (list === null) throw new UpstreamLacksData(upstream.name, `the receipts of block ${header.number}`)
  if (!Array.isArray(list)) throw new DecodeError('receipts', 'expected an array')
  if (list.length === transactions.length) return list
  throw new DecodeError('receipts', `expected ${transactions.length}, one for each transaction, got ${list.length}`)
}

async function fetchOneByOne(
  upstream: Upstream,
  blocks: readonly Block[],
  signal: AbortSignal | undefined,
): Promise<unknown[][]> {
  const method = 'eth_getTransactionReceipt'
  const hashes = blocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash))
  const answers = await upstream.request(
    hashes.map((hash) => ({ method, params: [formatData(hash)] })),
    signal,
  )
  const receipts = answers.map((answer, i) => {
    const receipt = upstream.resultOf(method, answer)
    if (receipt === null) throw new UpstreamLacksData(upstream.name, `the receipt of ${formatData(hashes[i])}`)
    return receipt
  })
  let at = 0
  return blocks.map(({ transactions }) => {
    const list = receipts.slice(at, at + transactions.length)
    at += transactions.length
    return list
  })
}
