import { type Budget, OutOfBudget } from '../../evm/calls/budget.js'
import type { EvmService } from '../../evm/calls/evmService.js'
import type { ResolvedBlocks, RpcContext } from '../core/context.js'
import { type InlineRunner, runCall } from '../core/dispatch.js'
import type { RpcOutcome } from '../core/envelope.js'
import type { InlinePolicy } from './inlinePolicy.js'

/** Facts about the calls that the main thread runs itself. */
export interface InlineReport {
  /** Calls that it answered. */
  readonly answered: number
  /** Calls that it broke off and handed to a thread. */
  readonly brokenOff: number
}

/** What runs small calls on the main thread. */
export interface InlineCalls extends InlineRunner {
  report(): InlineReport
}

/** Runs calls as the policy allows with the service, whose budget it is. */
export function createInlineCalls(parts: {
  context: RpcContext
  evm: EvmService
  budget: Budget
  policy: InlinePolicy
  withSnapshot: InlineRunner['withSnapshot']
}): InlineCalls {
  const { budget, policy, withSnapshot } = parts
  const context: RpcContext & { blocks?: ResolvedBlocks } = {
    ...parts.context,
    evm: parts.evm,
    deadline: budget.deadline,
  }
  let answered = 0
  let brokenOff = 0
  let inTurn = false
  const endTurn = () => {
    inTurn = false
    policy.endTurn()
  }
  return {
    withSnapshot,
    run(call) {
      const { method, values, blocks } = call
      const costKey = method.costKey?.(values)
      if (costKey === undefined) return undefined
      const name = method.name + costKey
      // Sockets that can be read are all read in one turn; what is to be done immediately comes after them.
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
        brokenOff++
        return undefined
      }
    },
    report: () => ({ answered, brokenOff }),
  }
}
