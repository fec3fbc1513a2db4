import type { EngineReply } from '../engine/openEngine.js'
import { syncing } from '../engine/statuses.js'

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
  private readonly open = new Map<number, (reply: EngineReply) => void>()
  private readonly optimisticMs: number
  private readonly readMs: number
  private lastId = 0

  constructor({ optimisticMs = OPTIMISTIC_MS, readMs = READ_MS }: EngineTimeouts = {}) {
    this.optimisticMs = optimisticMs
    this.readMs = readMs
  }

  /** Posts a request and resolves with its reply. Payloads and fork choices that take too long resolve with SYNCING:
   *  the thread processes them all the same. */
  add(method: string, post: (id: number) => void): Promise<EngineReply> {
    return new Promise((resolve) => {
      const id = ++this.lastId
      const late = answerLate(method)
      const timer = setTimeout(() => this.settle(id, late), late.refused ? this.readMs : this.optimisticMs)
      this.open.set(id, (reply) => {
        clearTimeout(timer)
        this.open.delete(id)
        resolve(reply)
      })
      post(id)
    })
  }

  /** Resolves a request; one that was resolved before is left alone. */
  settle(id: number, reply: EngineReply): void {
    this.open.get(id)?.(reply)
  }

  /** Resolves all requests: the thread ended. */
  fail(): void {
    const reply: EngineReply = { refused: { reason: 'internal', message: 'the thread that writes the chain ended' } }
    for (const id of [...this.open.keys()]) this.settle(id, reply)
  }
}

function answerLate(method: string): EngineReply {
  if (method.startsWith('engine_newPayload')) return { result: syncing() }
  if (method.startsWith('engine_forkchoiceUpdated')) return { result: { payloadStatus: syncing(), payloadId: null } }
  return { refused: { reason: 'internal', message: 'the thread that writes the chain is busy' } }
}
