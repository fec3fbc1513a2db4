import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { parseGenesis } from '../../../src/chain/eth/genesis.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openChainRlp } from '../../../src/sources/files/chainRlp.js'
import { packagePath } from '../../../src/store/open.js'
import { type BlockchainTest, genesisOf, readBlockchainTests } from '../../support/chains/blockchainTest.js'
import { createBlockRunner } from '../../support/chains/blockRunner.js'
import { SKIP_SHARED, sharedPath } from '../../support/shared.js'

const tables = createForkTables(await loadKzgVerifier())

/** Runs the blocks of an official test as far as they are one line of valid blocks; what differs, if anything does. */
function runTest(official: BlockchainTest): { blocks: number; failure?: string } {
  const runner = createBlockRunner(parseGenesis(genesisOf(official)), tables)
  const { stateRoot, hash } = official.genesisBlockHeader
  if (formatData(runner.root()) !== stateRoot) return { blocks: 0, failure: 'genesis state root' }
  let head = hash
  let blocks = 0
  for (const { rlp, expectException, blockHeader } of official.blocks) {
    if (expectException !== undefined || blockHeader?.parentHash !== head) continue
    const difference = runner.run(decodeBlock(parseHex(rlp)))
    if (difference !== undefined) return { blocks, failure: `block ${blockHeader.number}: ${difference}` }
    head = blockHeader.hash
    blocks++
  }
  return { blocks }
}

test('executes the valid blocks of every official blockchain test', (t) => {
  const folder = sharedPath('blockchain-tests')
  if (folder === undefined) return t.skip(String(SKIP_SHARED))
  const failures: string[] = []
  let blocks = 0
  for (const { name, test: official } of readBlockchainTests(folder)) {
    const outcome = runTest(official)
    blocks += outcome.blocks
    if (outcome.failure !== undefined) failures.push(`${name}: ${outcome.failure}`)
  }
  assert.deepEqual(failures, [])
  assert.ok(blocks > 200, `only ${blocks} blocks were executed`)
})

/** Executes a whole chain of a folder with `genesis.json` and `chain.rlp`; gives the number of its blocks. */
async function runChain(folder: string): Promise<number> {
  const genesis = parseGenesis(JSON.parse(readFileSync(`${folder}/genesis.json`, 'utf8')))
  const runner = createBlockRunner(genesis, tables)
  let blocks = 0
  for await (const { block } of openChainRlp(`${folder}/chain.rlp`).blocks()) {
    if (block.header.number === 0) continue
    assert.equal(runner.run(block), undefined, `block ${block.header.number}`)
    blocks++
  }
  return blocks
}

test('executes the official chain through every fork', async (t) => {
  const folder = sharedPath('conformance', 'execution-apis')
  if (folder === undefined) return t.skip(String(SKIP_SHARED))
  assert.equal(await runChain(folder), 54)
})

test('executes the bundled chain', async () => {
  assert.ok((await runChain(packagePath('fixtures/chain'))) > 50)
})
