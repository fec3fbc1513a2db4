import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallRun } from '../../bench/evm/calls.js'
import type { ForkFigures } from '../../bench/evm/forks.js'
import type { GethProofFigures } from '../../bench/evm/gethProofs.js'
import type { ImportRun } from '../../bench/evm/imports.js'
import type { TraceIndexFigures } from '../../bench/evm/plans.js'
import type { ProofFigures } from '../../bench/evm/proofs.js'
import type { TraceFigures } from '../../bench/evm/traces.js'
import { runShortBench } from '../support/shortBench.js'
import { findFoundry } from '../support/upstream/foundry.js'
import { SKIP_GETH } from '../support/upstream/geth.js'

interface Report {
  calls: CallRun
  traces: TraceFigures[]
  imports: ImportRun
  forks: ForkFigures[]
  gethProofs: GethProofFigures[]
  traceIndex: TraceIndexFigures[]
  state: { stored: { triePages: number }; proofs: ProofFigures[]; updateBlocks: { blocks: number } }
}

const PEERS = findFoundry('anvil') === undefined ? [] : ['--peers', 'anvil']

test('bench:evm: all engines and servers answer a call alike', async (t) => {
  const args = ['--only', 'erc20', '--blocks', '1', '--seconds', '0.1', ...PEERS]
  const { calls } = await runShortBench<Report>(t, 'evm', { phases: ['calls'], args })
  const [call, ...others] = calls.calls
  assert.deepEqual([call.name, others], ['erc20 balanceOf', []])
  const rates = [call.perSecond, call.referencePerSecond, call.evmReferencePerSecond, call.httpPerSecond]
  for (const rate of PEERS.length === 0 ? rates : [...rates, call.anvilPerSecond]) assert.ok(rate! > 0)
  for (const { serverCpuMs } of [...Object.values(call.http), ...Object.values(call.anvil)]) assert.ok(serverCpuMs! > 0)
})

// Not beside anvil, which takes minutes for a trace of a full block.
test('bench:evm: full blocks are traced, and the bundled chain is imported by all engines', async (t) => {
  const { traces, imports } = await runShortBench<Report>(t, 'evm', {
    phases: ['traces', 'imports'],
    args: ['--only', 'trace: callTracer; bundled', '--blocks', '1', '--seconds', '0.1'],
  })
  assert.deepEqual(
    traces.map(({ name, answerBytes }) => [name, answerBytes > 1_000]),
    [
      ['trace: callTracer', true],
      ['trace: callTracer with logs', true],
    ],
  )
  const [bundled] = imports.imports
  assert.deepEqual([bundled.name, imports.leftOut], ['bundled chain', []])
  assert.ok(bundled.blocksPerSecond > 0 && bundled.evmReferenceBlocksPerSecond! > 0)
})

test('bench:evm: the same transactions are imported as blocks of Osaka and of Amsterdam', async (t) => {
  const args = ['--only', 'Amsterdam ether', '--blocks', '1', '--seconds', '0.1']
  const { forks } = await runShortBench<Report>(t, 'evm', { phases: ['forks'], args })
  const [{ name, blocks, ...rates }, ...others] = forks
  assert.deepEqual([name, blocks, others], ['Amsterdam ether transfers', 1, []])
  for (const [figure, value] of Object.entries(rates)) assert.ok(value > 0, figure)
})

test('bench:evm: full blocks are imported with and without the trace index, and methods answer alike', async (t) => {
  const args = '--blocks 1 --rounds 1'
  const { traceIndex } = await runShortBench<Report>(t, 'evm', { phases: ['traceIndex'], args })
  assert.deepEqual(
    traceIndex.map(({ name, blocks, requests }) => [name, blocks, requests.length]),
    [
      ['contract calls', 1, 4],
      ['ether transfers', 1, 4],
    ],
  )
  for (const { callsPerBlock, transactionsPerBlock, bytesPerBlock } of traceIndex) {
    assert.ok(callsPerBlock >= transactionsPerBlock && bytesPerBlock > callsPerBlock)
  }
})

test('bench:evm: a large state is imported, rebuilt and proved', async (t) => {
  const args = '--accounts 1000 --updates 10 --update-blocks 4'
  const { state } = await runShortBench<Report>(t, 'evm', { phases: ['state'], args })
  assert.ok(state.stored.triePages > 0)
  assert.equal(state.updateBlocks.blocks, 4)
  for (const { blocksBehind, error } of state.proofs) assert.equal(error, undefined, `${blocksBehind} blocks behind`)
})

test('bench:evm: Cairn and a full geth prove the same accounts and slots', { skip: SKIP_GETH }, async (t) => {
  const args = '--accounts 1000 --updates 10 --update-blocks 4 --seconds 0.1'
  const { gethProofs } = await runShortBench<Report>(t, 'evm', { phases: ['gethProofs'], args })
  assert.deepEqual(
    gethProofs.map(({ blocksBehind, cairn, geth }) => [blocksBehind, cairn.perSecond > 0 && geth.perSecond > 0]),
    [
      [0, true],
      [1, true],
    ],
  )
})
