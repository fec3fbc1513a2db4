import { equalBytes } from '../../lib/bytes.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import type { RawBlock } from '../../sources/source.js'
import { ChainReorganized } from '../../sources/upstreams/errors.js'
import type { WritableChain } from '../chainState.js'
import { fetchAncestorHashes, lacksAncestorHashes } from '../sparse/ancestorHashes.js'
import { StateDumpNotInChain } from './errors.js'
import { withTotalDifficulty } from './firstDifficulty.js'

/** Returns the first block of a database with what cannot be computed without its parent: the total difficulty; for
 *  sparse state its receipts, and the hashes of its ancestors, which the chain gets. @throws ChainReorganized,
 *  StateDumpNotInChain, UsageError without a total difficulty */
export async function completeFirst(
  chain: WritableChain,
  rpc: EthRpc,
  raw: RawBlock,
  signal: AbortSignal,
): Promise<RawBlock> {
  const { sparse } = chain
  if (!sparse) return withTotalDifficulty(chain, raw)
  const { hash, header } = raw.block
  const dumped = sparse.dumpedBlock()
  if (dumped && !equalBytes(dumped.hash, hash)) throw new StateDumpNotInChain(dumped, hash)
  const { totalDifficulty } = (await rpc.headerByHash(hash, signal)) ?? {}
  const whole = await withTotalDifficulty(chain, { ...raw, totalDifficulty })
  sparse.setAncestors(await fetchAncestorHashes(rpc, header, signal))
  const withReceipts = await rpc.getBlock(hash, signal, true)
  if (!withReceipts) throw new ChainReorganized(header.number, header.parentHash)
  return { ...whole, receipts: withReceipts.receipts }
}

/** Stores the hashes of blocks before the first one that executing needs and the database lacks: it was begun without
 *  state. @throws ChainReorganized */
export async function completeAncestors(
  { sparse, reader, head }: WritableChain,
  rpc: EthRpc,
  signal: AbortSignal,
): Promise<void> {
  if (!sparse || !lacksAncestorHashes(reader)) return
  const { header } = reader.blockByNumber(reader.coverage()!.first)!
  const hashes = await fetchAncestorHashes(rpc, header, signal)
  head.storeFacts(() => sparse.storeAncestors(hashes))
}
