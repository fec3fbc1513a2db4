import type { RawBlock } from '../../../src/sources/source.js'
import { temporaryDirectory } from '../temporary.js'
import { type ChainAnswers, openChainAnswers } from '../upstream/scriptedUpstream.js'
import { importFixture } from './fixtureDatabase.js'
import { readChain } from './rightChain.js'

/** The bundled chain in a database of its own: its blocks, and what a node answers that has it. */
export async function openFixtureAnswers(t: {
  after(callback: () => void): void
}): Promise<{ chain: RawBlock[]; answers: ChainAnswers }> {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const answers = openChainAnswers(datadir)
  t.after(answers.close)
  return { chain: readChain(datadir), answers }
}
