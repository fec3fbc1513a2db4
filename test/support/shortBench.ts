import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from './cairn.js'
import { temporaryDirectory } from './temporary.js'

/** Runs `npm run bench:NAME` with the phases. @returns the figures of each, and what was printed */
export async function runShortBench<Report>(
  t: TestContext,
  name: 'logs' | 'evm' | 'sync' | 'replica',
  { phases, args }: { phases: readonly string[]; args: string | readonly string[] },
): Promise<Report & { stdout: string }> {
  const json = join(temporaryDirectory(t), 'report.json')
  const program = packagePath(`build/bench/${name}/index.js`)
  const all = [
    '--enable-source-maps',
    program,
    '--phase',
    phases.join(','),
    ...(typeof args === 'string' ? args.split(' ') : args),
    '--json',
    json,
  ]
  const { code, stdout, stderr } = await spawnNode(all, { TEST_FEW_THREADS: '1' }).ended
  assert.equal(code, 0, stderr)
  assert.notEqual(stdout, '')
  return { ...(JSON.parse(readFileSync(json, 'utf8')) as Report), stdout }
}
