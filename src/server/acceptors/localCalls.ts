import { createBudget } from '../../evm/calls/budget.js'
import { Interruption, withoutStack } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Metrics } from '../../lib/metrics.js'
import { createDispatcher, type Dispatcher, type InlineRunner, MAX_MAIN_THREAD_BYTES } from '../../rpc/core/dispatch.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import type { MethodTable } from '../../rpc/core/method.js'
import type { OpenContext } from '../../rpc/core/openContext.js'
import { createResponseCache } from '../../rpc/core/responseCache.js'
import { warmCalls } from '../../rpc/warmUp.js'
import { createShortBodies } from '../../store/rows/shortBodies.js'
import { createInlineCalls } from '../admission/inlineCalls.js'
import { createInlinePolicy } from '../admission/inlinePolicy.js'

/** A request needs the main thread. */
export class NeedsMainThread extends Interruption {
  constructor() {
    super('the main thread answers this request')
  }
}

/** Maximum time to warm up calls. */
const WARM_MS = 50

/** A dispatcher for an acceptor thread: calls that need the main thread, or take longer than the inline policy allows,
 *  throw NeedsMainThread. */
export async function createLocalDispatcher(
  { context, db, watch, loadBudgetedEvm }: OpenContext,
  options: { methods: MethodTable; runsCalls: boolean; cacheBytes: number; metrics: Metrics; log: Logger },
): Promise<Dispatcher> {
  const { methods, runsCalls, cacheBytes: maxBytes, metrics, log } = options
  const own = { ...context, upstreamPending: passOn }
  const inline = runsCalls ? await openInline({ context: own, loadBudgetedEvm }, options) : undefined
  const dispatcher = createDispatcher({
    methods,
    context: own,
    remote: { run: passOn },
    log,
    cache: maxBytes > 0 ? createResponseCache({ maxBytes, metrics }) : undefined,
    inline: inline && { run: (call) => inline.run(call) ?? passOn() },
    withSnapshot: watch.withSnapshot,
    shortBodies: createShortBodies(context.chain, db, MAX_MAIN_THREAD_BYTES),
  })
  return {
    timeBudget: dispatcher.timeBudget,
    dispatch(...call) {
      const outcome = dispatcher.dispatch(...call)
      return outcome instanceof Promise ? outcome.then(requireKnown) : requireKnown(outcome)
    },
  }
}

/** @throws NeedsMainThread */
export function passOn(): never {
  throw withoutStack(() => new NeedsMainThread())
}

/** The main thread may fetch state that is missing. */
function requireKnown(outcome: RpcOutcome): RpcOutcome {
  return 'error' in outcome && outcome.error.missing !== undefined ? passOn() : outcome
}

async function openInline(
  { context, loadBudgetedEvm }: Pick<OpenContext, 'context' | 'loadBudgetedEvm'>,
  { methods, metrics }: { methods: MethodTable; metrics: Metrics },
): Promise<InlineRunner> {
  const budget = createBudget()
  const evm = await loadBudgetedEvm(budget)
  budget.begin(WARM_MS)
  await warmCalls(methods, { ...context, evm, deadline: budget.deadline })
  // Passing a call on costs more than the longest call that runs inline.
  const policy = createInlinePolicy({ jobs: () => Infinity, threads: 1 })
  return createInlineCalls({ context, evm, budget, policy, metrics })
}
