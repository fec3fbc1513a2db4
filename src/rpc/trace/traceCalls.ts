import type { CallRequest } from '../../evm/calls/callRequest.js'
import type { CallOverrides } from '../../evm/calls/overrides.js'
import { findBlock, requireStateBlock } from '../core/blockId.js'
import type { RpcContext } from '../core/context.js'
import type { BlockId } from '../core/params.js'
import { TRACE_ERRORS } from '../debug/traceErrors.js'
import { CALL_REFUSED } from '../eth/callObject.js'
import { type Kind, replayResult } from './replayResult.js'

/** Errors of traces of calls. */
export const TRACED_CALL_ERRORS = [...TRACE_ERRORS, CALL_REFUSED]

/** The results of the calls on the state after a block, with overrides, each on the state left by the previous ones. */
export async function traceCalls(
  { chain, limits, deadline, loadTraces }: RpcContext,
  { id, overrides }: { id: BlockId; overrides?: CallOverrides },
  wanted: readonly { request: CallRequest; kinds: readonly Kind[]; isTransaction?: boolean }[],
): Promise<object[]> {
  const traces = await loadTraces()
  const block = findBlock(chain, requireStateBlock(chain, id))!
  let results: object[] = []
  traces.calls(block, { limits, deadline, overrides }, (executionOf) => {
    results = wanted.map(({ request, kinds, isTransaction }) =>
      replayResult(executionOf(request, isTransaction), kinds),
    )
  })
  return results
}
