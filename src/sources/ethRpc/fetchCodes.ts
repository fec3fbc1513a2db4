import { keccak256 } from '../../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { EMPTY_BYTES, equalBytes, keyOfBytes } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { askForHints } from './askForHints.js'
import { parseData } from './fields.js'
import { inGroups } from './inGroups.js'
import { requestState } from './requestState.js'
import type { CodeRequest, StateBlock } from './stateTypes.js'

// A code has up to 24 KiB, 64 KiB from Amsterdam on (EIP-7954), and twice that as hex.
const MAX_CODES = 64

/** Implements `UpstreamState.codes`. Asks once for codes of the same hash. */
export async function fetchCodes(
  pool: Pool,
  requests: readonly CodeRequest[],
  block: Pick<StateBlock, 'number' | 'hash'>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  const wanted = [...new Map(requests.map((each) => [keyOfBytes(each.codeHash), each])).values()].filter(
    ({ codeHash }) => !equalBytes(codeHash, EMPTY_CODE_HASH),
  )
  const groups: CodeRequest[][] = []
  for (let from = 0; from < wanted.length; from += MAX_CODES) groups.push(wanted.slice(from, from + MAX_CODES))
  const fetched = await inGroups(
    groups,
    (group, each) => pool.run((upstream) => fetchGroup(upstream, group, block, each), each),
    signal,
  )
  const byHash = new Map(fetched.flat().map((code, i) => [keyOfBytes(wanted[i].codeHash), code]))
  return requests.map(({ codeHash }) => byHash.get(keyOfBytes(codeHash)) ?? EMPTY_BYTES)
}

/** Implements `UpstreamState.codeHints`. */
export async function fetchCodeHints(
  pool: Pool,
  addresses: readonly Uint8Array[],
  block: Pick<StateBlock, 'number' | 'hash'>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  const at = { blockHash: formatData(block.hash) }
  const params = addresses.slice(0, MAX_CODES).map((address) => [formatData(address), at])
  if (params.length === 0) return []
  const results = await askForHints(pool, { method: 'eth_getCode', params }, signal)
  return results.flatMap((result) => parseData(result) ?? [])
}

async function fetchGroup(
  upstream: Upstream,
  group: readonly CodeRequest[],
  block: Pick<StateBlock, 'number' | 'hash'>,
  signal: AbortSignal,
): Promise<Uint8Array[]> {
  const params = group.map(({ address }) => [formatData(address)])
  const { results, verify } = await requestState(upstream, { method: 'eth_getCode', params, block }, signal)
  return verify(() =>
    group.map(({ address, codeHash }, i) => {
      const fail = (actual: string) =>
        new DecodeError('code hash', `${formatData(address)}: expected ${formatData(codeHash)}, got ${actual}`)
      const code = parseData(results[i])
      if (!code) throw fail('no hex data')
      const hash = keccak256(code)
      if (!equalBytes(hash, codeHash)) throw fail(formatData(hash))
      return code
    }),
  )
}
