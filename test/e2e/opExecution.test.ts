import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { type ExecutedBlock, type RecordedObject, readExecutedOpChain } from '../support/chains/op/opChain.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The program executes a chain of the OP stack from its genesis, through all forks. op-geth executed it too. */

const chain = readExecutedOpChain()
const { blocks, genesis } = chain
const HEAD = blocks.length - 1
const quantity = (number: number) => `0x${number.toString(16)}`

const folder = temporaryDirectory({ after })
const genesisFile = join(folder, 'genesis.json')
const chainFile = join(folder, 'chain.rlp')
const datadir = join(folder, 'data')

before(async () => {
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(chainFile, Buffer.concat(blocks.slice(1).map(({ raw }) => Buffer.from(raw.slice(2), 'hex'))))
  // Compares receipts, gas and the state root of each block with its header.
  const args = ['import', '--datadir', datadir, '--genesis', genesisFile, '--root-interval', '1', chainFile]
  assert.match(await runCairnOk(args), new RegExp(`${HEAD} blocks imported`))
})

/** A frame of the callTracer with inputs cut as those of the recording. */
function shortened(frame: RecordedObject): RecordedObject {
  const { input, calls } = frame as { input: string; calls?: RecordedObject[] }
  return { ...frame, input: input.slice(0, 1000), ...(calls && { calls: calls.map(shortened) }) }
}

test('traces, estimates and balances are those of op-geth at every height', async (t) => {
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  assert.equal(await resultOf(url, 'eth_blockNumber', []), quantity(HEAD))
  const check = async ({ traces, calls, balances }: ExecutedBlock, number: number) => {
    const id = quantity(number)
    if (number > 0) {
      const tracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }
      const traced = await resultOf<{ result: RecordedObject }[]>(url, 'debug_traceBlockByNumber', [id, tracer])
      assert.deepEqual(
        traced.map(({ result }) => shortened(result)),
        traces,
        `traces of block ${number}`,
      )
    }
    for (const { request, estimate } of calls) {
      assert.equal(await resultOf(url, 'eth_estimateGas', [request, id]), estimate, `${request.to} after ${number}`)
    }
    for (const [address, balance] of Object.entries(balances)) {
      assert.equal(await resultOf(url, 'eth_getBalance', [address, id]), balance, `${address} after ${number}`)
    }
  }
  for (const [number, block] of blocks.entries()) await check(block, number)
})
