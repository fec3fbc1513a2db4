import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallRun } from '../../bench/evm/calls.js'
import type { ForkFigures } from '../../bench/evm/forks.js'
import type { GethCallFigures } from '../../bench/evm/gethCalls.js'
import type { GethWrites } from '../../bench/evm/gethPair.js'
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
  gethCalls: GethCallFigures[]
  gethProofs: GethProofFigures[]
  gethWrites: GethWrites
  traceIndex: TraceIndexFigures[]
  state: { stored: { triePages: number }; proofs: ProofFigures[]; updateBlocks: { blocks: number } }
}

const HAS_ANVIL = findFoundry('anvil') !== undefined

test('bench:evm: all engines answer calls, trace blocks and import chains', async (t) => {
  const only = 'erc20; trace: callTracer; bundled; Amsterdam ether'
  const { calls, traces, imports, forks, traceIndex } = await runShortBench<Report>(t, 'evm', {
    phases: ['calls', 'traces', 'imports', 'forks', 'traceIndex'],
    args: [
      ...[
        '--only',
        only,
        '--blocks',
        '1',
        '--gas',
        '2',
        '--slots',
        '100',
        '--seconds',
        '0.1',
        '--warm',
        '0',
        '--call-rounds',
        '1',
        '--rounds',
        '1',
        '--fork-rounds',
        '1',
      ],
      ...(HAS_ANVIL ? ['--peers', 'anvil'] : []),
    ],
  })
  await t.test('all engines and servers answer a call alike', () => checkCalls(calls))
  await t.test('full blocks are traced', () => {
    assert.deepEqual(
      traces.map(({ name, answerBytes, httpPerSecond }) => [name, answerBytes > 1_000, httpPerSecond! > 0]),
      [
        ['trace: callTracer', true, true],
        ['trace: callTracer with logs', true, true],
      ],
    )
    if (HAS_ANVIL) for (const { anvilPerSecond } of traces) assert.ok(anvilPerSecond! > 0)
  })
  await t.test('the bundled chain is imported by all engines', () => {
    const [bundled] = imports.imports
    assert.deepEqual([bundled.name, imports.leftOut], ['bundled chain', []])
    assert.ok(bundled.blocksPerSecond > 0 && bundled.evmReferenceBlocksPerSecond! > 0)
  })
  await t.test('the same transactions are imported as blocks of Osaka and of Amsterdam', () => {
    const [{ name, blocks, ...rates }, ...others] = forks
    assert.deepEqual([name, blocks, others], ['Amsterdam ether transfers', 1, []])
    for (const [figure, value] of Object.entries(rates)) assert.ok(value > 0, figure)
  })
  await t.test('full blocks are imported with and without the trace index, and methods answer alike', () =>
    checkTraceIndex(traceIndex),
  )
})

test('bench:evm: a large state is imported, rebuilt and proved, by a full geth too', async (t) => {
  const phases = SKIP_GETH === false ? ['state', 'gethProofs', 'gethCalls', 'gethWrites'] : ['state']
  const largeState = '--accounts 500 --updates 10 --update-blocks 2'
  const args = `${largeState} --blocks 1 --gas 2 --slots 100 --warm 0 --call-rounds 1 --seconds 0.1`
  const { state, gethCalls, gethProofs, gethWrites } = await runShortBench<Report>(t, 'evm', { phases, args })
  assert.ok(state.stored.triePages > 0)
  assert.equal(state.updateBlocks.blocks, 2)
  assert.deepEqual(
    state.proofs.map(({ blocksBehind, error }) => [blocksBehind, error]),
    [0, 1, 2].map((blocksBehind) => [blocksBehind, undefined]),
  )
  await t.test('Cairn and a full geth prove the same accounts and slots', { skip: SKIP_GETH }, () => {
    assert.deepEqual(
      gethProofs.map(({ blocksBehind, cairn, geth }) => [blocksBehind, cairn.perSecond > 0 && geth.perSecond > 0]),
      [
        [0, true],
        [1, true],
      ],
    )
    assert.ok(gethWrites.cairn > 0 && gethWrites.geth > 0)
  })
  await t.test('both answer calls with overrides and trace blocks alike', { skip: SKIP_GETH }, () => {
    assert.deepEqual(
      gethCalls.map(({ connections, cairn, geth }) => [connections, cairn.perSecond > 0 && geth.perSecond > 0]),
      [
        [16, true],
        [1, true],
      ],
    )
  })
})

function checkCalls({ calls }: CallRun): void {
  const [call, ...others] = calls
  assert.deepEqual([call.name, others], ['erc20 balanceOf', []])
  const rates = [call.perSecond, call.referencePerSecond, call.evmReferencePerSecond, call.httpPerSecond]
  for (const rate of HAS_ANVIL ? [...rates, call.anvilPerSecond] : rates) assert.ok(rate! > 0)
  for (const { serverCpuMs } of [...Object.values(call.http), ...Object.values(call.anvil)]) assert.ok(serverCpuMs! > 0)
}

function checkTraceIndex(figures: readonly TraceIndexFigures[]): void {
  assert.deepEqual(
    figures.map(({ name, blocks, requests }) => [name, blocks, requests.length]),
    [
      ['contract calls', 1, 4],
      ['ether transfers', 1, 4],
    ],
  )
  for (const { callsPerBlock, transactionsPerBlock, bytesPerBlock } of figures) {
    assert.ok(callsPerBlock >= transactionsPerBlock && bytesPerBlock > callsPerBlock)
  }
}
