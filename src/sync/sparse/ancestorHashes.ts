import type { Header } from '../../chain/eth/types.js'
import { concatBytes, equalBytes } from '../../lib/bytes.js'
import type { EthRpc, UpstreamHeader } from '../../sources/ethRpc/types.js'
import { ChainReorganized } from '../../sources/upstreams/errors.js'
import type { ChainReader } from '../../store/rows/types.js'

/** Blocks whose hashes BLOCKHASH returns (Yellow Paper, 9.4.2). */
export const ANCESTORS = 256
const AT_ONCE = 16
// A reorg below the first block with state lets it begin earlier: at most this many blocks are expected.
const DEEPEST_REORG = 1024

/** True when BLOCKHASH can ask for blocks before the first stored one, and their hashes are not stored: in a database
 *  that was begun without state shortly before its first block with state. */
export function lacksAncestorHashes(chain: ChainReader): boolean {
  const { first = 0, stateFirst } = chain.coverage() ?? {}
  if (first === 0 || stateFirst === undefined || stateFirst - first > ANCESTORS + DEEPEST_REORG) return false
  return chain.ancestorHash(first - 1) === undefined
}

/** Fetches the hashes of the ancestors of a block that BLOCKHASH can ask for: at most 256, newest first, 32 bytes each.
 *  @throws as `fetchAncestors` */
export async function fetchAncestorHashes(rpc: EthRpc, header: Header, signal: AbortSignal): Promise<Uint8Array> {
  return concatBytes(...(await fetchAncestors(rpc, header, signal)).map(({ hash }) => hash))
}

/** Fetches the ancestors of a block whose hashes BLOCKHASH can ask for: at most 256, newest first, each bound by the
 *  header after it.
 *  @throws ChainReorganized when the headers do not link, or an upstream lacks one; UpstreamError */
export async function fetchAncestors(
  rpc: Pick<EthRpc, 'headerByNumber'>,
  header: Header,
  signal?: AbortSignal,
): Promise<UpstreamHeader[]> {
  const count = Math.min(ANCESTORS, header.number)
  const headers: UpstreamHeader[] = []
  let parentHash = header.parentHash
  while (headers.length < count) {
    const from = header.number - 1 - headers.length
    const length = Math.min(AT_ONCE, count - headers.length)
    const found = await Promise.all(Array.from({ length }, (_, i) => rpc.headerByNumber(from - i, signal)))
    for (const [i, each] of found.entries()) {
      if (each === undefined || !equalBytes(each.hash, parentHash)) throw new ChainReorganized(from - i, parentHash)
      headers.push(each)
      parentHash = each.header.parentHash
    }
  }
  return headers
}
