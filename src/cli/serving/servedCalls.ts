import { createBudget } from '../../evm/calls/budget.js'
import { requireReferenceRules } from '../../evm/transition/referenceRules.js'
import { messageOf } from '../../lib/errors.js'
import { collectGarbageWhenQuiet } from '../../lib/garbageCollection.js'
import type { Metrics } from '../../lib/metrics.js'
import {
  createDispatcher,
  type Dispatcher,
  type InlineRunner,
  MAX_MAIN_THREAD_BYTES,
  type RemoteRunner,
} from '../../rpc/core/dispatch.js'
import type { MethodTable } from '../../rpc/core/method.js'
import type { OpenContext } from '../../rpc/core/openContext.js'
import { createResponseCache, type ResponseCache } from '../../rpc/core/responseCache.js'
import { warmCalls } from '../../rpc/warmUp.js'
import { KEY_INVALID } from '../../server/access/access.js'
import { createInlineCalls } from '../../server/admission/inlineCalls.js'
import { createInlinePolicy, type ThreadLoad } from '../../server/admission/inlinePolicy.js'
import { createShortBodies } from '../../store/rows/shortBodies.js'
import { ReaderPool } from '../../workers/pool/readerPool.js'
import type { ServingCore } from './core.js'

/** Maximum time to warm up inline calls. */
const INLINE_WARM_MS = 50

/** Runs the calls of a server: `point` methods at once, all others after `start`. */
export class ServedCalls {
  readonly dispatcher: Dispatcher
  /** Runs calls in reader threads, after `start`. */
  readonly remote: RemoteRunner = { run: (...call) => this.#pool!.run(...call) }
  readonly #core: ServingCore
  readonly #runsInline: boolean
  readonly #cache: ResponseCache | undefined
  #inlineCalls: InlineRunner | undefined
  #pool: ReaderPool | undefined
  #isWarm = false

  /** @throws UsageError for the reference interpreter on a chain that it does not execute */
  constructor(core: ServingCore) {
    const { options, opened, methods, metrics, log, served } = core
    const { context, db, watch } = opened
    const { chain } = context
    if (options.evm === 'reference' && chain.head() !== undefined) requireReferenceRules(chain.spec())
    this.#core = core
    this.#runsInline = options.inlineCalls && options.evm === 'cairn'
    const maxBytes = options.responseCacheBytes / (options.acceptThreads + 1)
    this.#cache = maxBytes > 0 ? createResponseCache({ maxBytes, metrics }) : undefined
    this.dispatcher = createDispatcher({
      methods,
      context,
      remote: this.remote,
      log,
      cache: this.#cache,
      inline: this.#runsInline ? { run: (...call) => this.#inlineCalls?.run(...call) } : undefined,
      withSnapshot: watch.withSnapshot,
      shortBodies: createShortBodies(chain, db, MAX_MAIN_THREAD_BYTES),
      served,
      stateFetcher: options.ingest?.fetchState && {
        fetch: (unknown, { client, ...bounds }) => {
          if (typeof client === 'number') core.access.countWork(client)
          return options.ingest!.fetchState!({ ...unknown, ...bounds })
        },
      },
    })
  }

  /** True once every thread is warm. */
  get isWarm(): boolean {
    return this.#isWarm
  }

  /** Starts the reader threads. `warmed` resolves once all are warm, or the pool is closed. */
  start(): { pool: ReaderPool; warmed: Promise<void> } {
    const { options, log, metrics } = this.#core
    const databaseFile = this.#core.databaseFile?.file
    const pool = new ReaderPool({ ...options, databaseFile, log, metrics, onRest: () => this.#rest() })
    this.#pool = pool
    // Runs in parallel with the threads: requests before readiness wait at most for the slower of the two.
    const warmed = Promise.all([pool.warm(), this.#runsInline && this.#startInlineCalls(pool)]).then(() => {
      this.#isWarm = true
    })
    return { pool, warmed }
  }

  /** Returns memory to the system: large cached responses and garbage. */
  #rest(): void {
    this.#cache?.dropLarge()
    collectGarbageWhenQuiet()
  }

  async #startInlineCalls(pool: ReaderPool): Promise<void> {
    const { options, opened, methods, metrics, log } = this.#core
    const { evmThreads: threads, acceptThreads } = options
    const load = { jobs: () => pool.pendingCalls(), threads, isShared: acceptThreads > 0 }
    try {
      this.#inlineCalls = await openInlineCalls(opened, methods, { load, metrics })
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'calls run in threads only')
    }
  }

  /** Aborts the calls of keys that were revoked. */
  endRevoked(): void {
    for (const client of this.#pool?.clients() ?? []) {
      const isRevoked = typeof client === 'number' && !this.#core.access.isLive({ keyId: client })
      if (isRevoked) this.#pool?.abort(client, KEY_INVALID.error)
    }
  }
}

/** Creates the runner of small calls on the main thread, over its connection, and warms it up. */
async function openInlineCalls(
  opened: OpenContext,
  methods: MethodTable,
  { load, metrics }: { load: ThreadLoad; metrics: Metrics },
): Promise<InlineRunner> {
  const budget = createBudget()
  const evm = await opened.loadBudgetedEvm(budget)
  const { context } = opened
  budget.begin(INLINE_WARM_MS)
  await warmCalls(methods, { ...context, evm, deadline: budget.deadline })
  const policy = createInlinePolicy(load)
  return createInlineCalls({ context, evm, budget, policy, metrics })
}
