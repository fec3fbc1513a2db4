import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packagePath } from '../src/store/open.js'
import { openForWriting } from '../src/store/openForWriting.js'
import { createChainBuilder } from './fixture/chainBuilder.js'
import { createCast, createGenesisFile } from './fixture/genesis.js'
import { buildL2Lines } from './fixture/l2.js'
import { playScenario } from './fixture/scenario.js'

/** The bytes of the bundled fixture: the same at every call. */
export async function buildFixture(): Promise<{ genesis: string; chainRlp: Uint8Array; l2: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-fixture-'))
  const db = openForWriting(directory)
  try {
    const cast = createCast()
    const genesis = createGenesisFile(cast)
    const builder = await createChainBuilder(db, genesis)
    await playScenario(builder, cast)
    return { genesis: `${JSON.stringify(genesis, null, 2)}\n`, chainRlp: builder.encode(), l2: buildL2Lines() }
  } finally {
    db.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

if (process.argv[1]?.endsWith('make-fixture-chain.js')) {
  const folder = process.argv[2] ?? packagePath('fixtures/chain')
  const { genesis, chainRlp, l2 } = await buildFixture()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'genesis.json'), genesis)
  writeFileSync(join(folder, 'chain.rlp'), chainRlp)
  writeFileSync(join(folder, 'l2.ndjson'), l2)
  console.log(`${folder}: chain.rlp ${chainRlp.length} bytes, genesis.json ${genesis.length}, l2.ndjson ${l2.length}`)
}
