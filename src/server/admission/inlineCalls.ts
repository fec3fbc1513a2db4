import { type Budget, OutOfBudget } from '../../evm/calls/budget.js'
import type { EvmService } from '../../evm/calls/evmService.js'
import type { Metrics } from '../../lib/metrics.js'
import type { ResolvedBlocks, RpcContext } from '../../rpc/core/context.js'
import type { InlineRunner } from '../../rpc/core/dispatch.js'
import type { RpcOutcome } from '../../rpc/core/envelope.js'
import { runCall } from '../../rpc/core/runCall.js'
import type { InlinePolicy } from './inlinePolicy.js'

/** Runs calls with the budgeted service, as the policy allows. */
export function createInlineCalls(parts: {
  context: RpcContext
  evm: EvmService
  budget: Budget
  policy: InlinePolicy
  metrics: Metrics
}): InlineRunner {
  const { budget, policy } = parts
  const context: RpcContext & { blocks?: ResolvedBlocks } = {
    ...parts.context,
    evm: parts.evm,
    deadline: budget.deadline,
  }
  let answered = 0
  let aborted = 0
  parts.metrics.counter(
    'cairn_inline_calls_total',
    'Calls that the main thread ran itself: answered, or aborted and handed to a thread.',
    () => [
      [{ outcome: 'answered' }, answered],
      [{ outcome: 'aborted' }, aborted],
    ],
  )
  let inTurn = false
  const endTurn = () => {
    inTurn = false
    policy.endTurn()
  }
  return {
    run(call) {
      const { method, values, blocks } = call
      const costKey = method.costKey?.(values)
      if (costKey === undefined) return undefined
      const name = method.name + costKey
      // All readable sockets are read in one turn; `setImmediate` callbacks come after them.
      if (!inTurn) setImmediate(endTurn)
      inTurn = true
      const timeMs = policy.grant(name)
      if (timeMs === undefined) return undefined
      const begun = performance.now()
      budget.begin(timeMs)
      try {
        context.blocks = blocks
        const outcome = runCall(call, context) as RpcOutcome
        policy.note(name, true, performance.now() - begun)
        answered++
        return outcome
      } catch (error) {
        if (!(error instanceof OutOfBudget)) throw error
        policy.note(name, false, performance.now() - begun)
        aborted++
        return undefined
      }
    },
  }
}
