import { formatData } from '../../lib/hex.js'
import type { TouchedAccount } from '../../trie/touchedAccount.js'
import { BLOCK_UNAVAILABLE, findBlock, HASH_UNAVAILABLE } from '../core/blockId.js'
import { RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { hash32, required } from '../core/params.js'
import { trieTooFar } from './stateDump.js'
import { traceConfigParam, traceDeadline } from './traceConfig.js'
import { GENESIS_ERROR, requireTraceable, TRACE_ERRORS } from './traceErrors.js'

export const intermediateRoots = defineMethod({
  name: 'debug_intermediateRoots',
  summary: 'State roots after each transaction of a block, by executing it again.',
  description:
    'The last one is not the root of the header where rewards, withdrawals or system calls follow. Of the configuration only `timeout` has an ' +
    'effect. The state trie of the parent is restored as for `eth_getProof`.',
  cost: 'evm',
  classes: ['traces'],
  isTrace: true,
  params: [required('blockHash', hash32, 'block hash'), traceConfigParam],
  result: { name: 'state roots', schema: { type: 'array', items: hash32.schema } },
  errors: [
    { code: SERVER_ERROR, message: 'block 0x… not found' },
    GENESIS_ERROR,
    BLOCK_UNAVAILABLE,
    HASH_UNAVAILABLE,
    trieTooFar('debug_intermediateRoots', '60s'),
    ...TRACE_ERRORS,
  ],
  handler: async (context, hash, config) => {
    const { chain, limits, evm } = context
    const traces = await context.loadTraces()
    const block = findBlock(chain, { hash, requireCanonical: true })
    if (block === undefined) throw new RpcError(SERVER_ERROR, `block ${formatData(hash)} not found`)
    const deadline = traceDeadline(context.deadline, config)
    const changes: TouchedAccount[][] = []
    traces.replay(requireTraceable(block), { deadline, memoryBytes: limits.callMemoryBytes }, (execution) => {
      execution.run()
      changes.push(execution.journal.takeTouched())
    })
    const roots = evm.stateRoots(changes, block.header.number - 1, deadline)
    return roots.map(formatData)
  },
})
