import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBlock, encodeBlock } from '../../../src/chain/eth/block.js'
import { measureRlp } from '../../../src/chain/eth/rlp.js'
import type { Block } from '../../../src/chain/eth/types.js'
import type { BlockSource } from '../../../src/sources/source.js'
import { packagePath } from '../../../src/store/open.js'

/** The folder of the bundled fixture chain. */
export const FIXTURE_FOLDER = packagePath('fixtures/chain')

/** Its genesis in geth's format. */
export function fixtureGenesis(): unknown {
  return JSON.parse(readFileSync(join(FIXTURE_FOLDER, 'genesis.json'), 'utf8'))
}

/** Its blocks, from block 1 on. */
export function fixtureBlocks(): Block[] {
  const bytes = new Uint8Array(readFileSync(join(FIXTURE_FOLDER, 'chain.rlp')))
  const blocks: Block[] = []
  for (let at = 0; at < bytes.length; ) {
    const { end } = measureRlp(bytes, at)!
    blocks.push(decodeBlock(bytes.subarray(at, end)))
    at = end
  }
  return blocks
}

/** A source of blocks in memory. */
export function sourceOf(blocks: readonly Block[]): BlockSource {
  return { kind: 'memory', path: 'memory', blocks: () => blocks.map((block) => ({ block })) }
}

/** RLP of the blocks one after another, as a chain file holds them. */
export function encodeChain(blocks: readonly Block[]): Uint8Array {
  return new Uint8Array(Buffer.concat(blocks.map(encodeBlock)))
}
