import { formatData } from '../../lib/hex.js'
import { StateNotAtUpstream, UpstreamError, UpstreamLacksData } from '../upstreams/errors.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { fetchHead, fetchHeader } from './fetchBlocks.js'
import { fetchGroup } from './fetchProofs.js'
import { PROOF_WINDOW_HELP, requestOptional } from './requestState.js'
import type { StateSupport } from './stateTypes.js'

// No block has it: a node that knows the method says so, without executing anything.
const NO_BLOCK = formatData(new Uint8Array(32).fill(0xff))

interface Probe {
  readonly upstream: string
  readonly witness: boolean
  /** Why it has no proofs; undefined when it has them. */
  readonly withoutProofs?: string
}

/** Implements `UpstreamState.probeState`. */
export async function probeState(pool: Pool, signal: AbortSignal | undefined): Promise<StateSupport> {
  const probes = await Promise.all(pool.upstreams.map((upstream) => probe(pool, upstream, signal)))
  signal?.throwIfAborted()
  const witness = probes.some((each) => each.witness)
  const proofs = probes.some((each) => each.withoutProofs === undefined)
  if (witness && proofs) return { witness, proofs }
  if (proofs) {
    const names = probes.map(({ upstream }) => upstream).join(', ')
    return { witness, proofs, reason: `${names}: no debug_executionWitness; blocks are executed with eth_getProof` }
  }
  const reasons = probes.map((each) => `${each.upstream}: ${each.withoutProofs}`).join(', ')
  const effect = witness ? 'only what blocks read can be fetched' : 'state cannot be fetched'
  return { witness, proofs, reason: `${reasons}; ${effect}` }
}

async function probe(pool: Pool, upstream: Upstream, signal: AbortSignal | undefined): Promise<Probe> {
  const { name } = upstream
  try {
    return await pool.runAt(
      upstream,
      async () => {
        const witness = (await requestOptional(upstream, 'debug_executionWitness', [[NO_BLOCK]], signal)) !== undefined
        return { upstream: name, witness, withoutProofs: await findProofs(upstream, signal) }
      },
      signal,
    )
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { upstream: name, witness: false, withoutProofs: describe(error) }
  }
}

/** Asks for a proof at the parent of the head: that is what following needs. Returns why it could not be had. */
async function findProofs(upstream: Upstream, signal: AbortSignal | undefined): Promise<string | undefined> {
  const head = await fetchHead(upstream, signal)
  const parent = head.header.number === 0 ? head : await fetchHeader(upstream, head.header.parentHash, signal)
  if (!parent) throw new UpstreamLacksData(upstream.name, 'the parent of its head')
  const { number, stateRoot, miner } = parent.header
  const block = { number, hash: parent.hash, stateRoot }
  try {
    await fetchGroup(upstream, { keys: [{ address: miner, slots: [new Uint8Array(32)] }], block }, signal)
    return undefined
  } catch (error) {
    if (!(error instanceof StateNotAtUpstream)) throw error
    return /proof window/i.test(error.reason) ? `${error.reason} (${PROOF_WINDOW_HELP})` : error.reason
  }
}

/** The message without the name of the upstream. */
function describe({ message, upstream }: UpstreamError): string {
  return message.startsWith(`${upstream}: `) ? message.slice(upstream.length + 2) : message
}
