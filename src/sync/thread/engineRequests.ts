import type { EngineReply } from '../engine/openEngine.js'
import { syncing } from '../engine/statuses.js'
import { PendingRequests } from './pendingRequests.js'

// Consensus clients wait for 8 s, with Amsterdam for 6 s.
const OPTIMISTIC_MS = 5_000
// Other methods read the database only.
const READ_MS = 9_000

/** How long requests wait for the thread. */
interface EngineTimeouts {
  readonly optimisticMs?: number
  readonly readMs?: number
}

/** Requests of a consensus client to the thread that writes the chain, by id. */
export class EngineRequests {
  private readonly pending = new PendingRequests<EngineReply>()
  private readonly optimisticMs: number
  private readonly readMs: number

  constructor({ optimisticMs = OPTIMISTIC_MS, readMs = READ_MS }: EngineTimeouts = {}) {
    this.optimisticMs = optimisticMs
    this.readMs = readMs
  }

  /** Posts a request and resolves with its reply. Payloads and fork choices that take too long resolve with SYNCING:
   *  the thread processes them all the same. */
  add(method: string, post: (id: number) => void): Promise<EngineReply> {
    const late = answerLate(method)
    return this.pending.add(post, { late, timeoutMs: late.refused ? this.readMs : this.optimisticMs })
  }

  /** Resolves a request; one that was resolved before is left alone. */
  settle(id: number, reply: EngineReply): void {
    this.pending.settle(id, reply)
  }

  /** Resolves all requests: the thread ended. */
  fail(): void {
    this.pending.settleAll({ refused: { reason: 'internal', message: 'the thread that writes the chain ended' } })
  }
}

function answerLate(method: string): EngineReply {
  if (method.startsWith('engine_newPayload')) return { result: syncing() }
  if (method.startsWith('engine_forkchoiceUpdated')) return { result: { payloadStatus: syncing(), payloadId: null } }
  return { refused: { reason: 'internal', message: 'the thread that writes the chain is busy' } }
}
