import { familyOf } from '../../chain/eth/families/families.js'
import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { PendingBlock } from '../../chain/eth/types.js'
import { verifyBodyRoots } from '../../chain/eth/verifyRoots.js'
import type { Logger } from '../../lib/logger.js'
import { UpstreamRpcError } from '../upstreams/errors.js'
import type { Upstream } from '../upstreams/upstream.js'
import { decodePendingJson } from './blockJson.js'

/** Returns the pending block of an upstream, as `EthRpc.pendingBlock` says. One that cannot be read does not quarantine
 *  the upstream: nodes differ in what they leave out of it. @throws UpstreamError */
export async function fetchPending(
  upstream: Upstream,
  log: Logger,
  signal: AbortSignal | undefined,
): Promise<PendingBlock | undefined> {
  try {
    const value = await upstream.call('eth_getBlockByNumber', ['pending', true], signal)
    if (value === null) return undefined
    const pending = decodePendingJson(value)
    verifyBodyRoots({ ...pending, uncles: [], hash: new Uint8Array(32), sizeBytes: 0 }, familyOf(upstream.spec))
    return pending
  } catch (error) {
    const isUnreadable = error instanceof DecodeError || error instanceof InvalidBlock
    if (!isUnreadable && !(error instanceof UpstreamRpcError)) throw error
    log.debug({ upstream: upstream.name, problem: upstream.redact(error.message) }, 'no pending block')
    return undefined
  }
}
