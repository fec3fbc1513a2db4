import type { Pool } from '../upstreams/pool.js'
import { fetchAccessListHint, fetchBlockAccessList } from './fetchAccessHints.js'
import { fetchAccessList } from './fetchAccessLists.js'
import { fetchCodeHints, fetchCodes } from './fetchCodes.js'
import { fetchProofs } from './fetchProofs.js'
import { fetchWitness } from './fetchWitness.js'
import { probeState } from './probeState.js'
import type { UpstreamState } from './stateTypes.js'

/** Fetches state from the upstreams of a pool. */
export function createUpstreamState(pool: Pool): UpstreamState {
  return {
    proofs: (requests, block, signal) => fetchProofs(pool, requests, block, signal),
    codes: (requests, block, signal) => fetchCodes(pool, requests, block, signal),
    codeHints: (addresses, block, signal) => fetchCodeHints(pool, addresses, block, signal),
    executionWitness: (block, signal) => fetchWitness(pool, block, signal),
    accessListHint: (call, block, signal) => fetchAccessListHint(pool, call, block, signal),
    blockAccessList: (block, signal) => fetchBlockAccessList(pool, block, signal),
    accessList: (block, signal) => fetchAccessList(pool, block, signal),
    probeState: (signal) => probeState(pool, signal),
  }
}
