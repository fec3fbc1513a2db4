import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { HEAD } from '../support/chains/fixtureChain.js'
import { freePort } from '../support/freePort.js'
import { installPackage } from '../support/npmPackage.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The workflows in `docs/examples`, run step by step as their runners do, in a project whose tests ask the server. */

interface Step {
  name?: string
  run?: string
  env?: { [name: string]: string }
  if?: string
}

interface Yaml {
  parse(text: string): unknown
}

const yamlFolder = installPackage('yaml', '2.9.1')
const options = { skip: yamlFolder === undefined && 'yaml cannot be installed' }
/** Port of the server in the workflows. */
const PORT = '8545'

async function readExample<T>(name: string): Promise<T> {
  const { parse } = (await import(pathToFileURL(`${yamlFolder}/dist/index.js`).href)) as Yaml
  return parse(readFileSync(packagePath(`docs/examples/${name}`), 'utf8')) as T
}

/** Makes a project with a recorded chain, Cairn, and one test that wants the head of that chain at `RPC_URL`. */
function makeProject(t: TestContext): string {
  const project = temporaryDirectory(t)
  cpSync(FIXTURE_FOLDER, join(project, 'test', 'chain'), { recursive: true })
  const packages = join(project, 'node_modules')
  mkdirSync(join(packages, '@cairn-indexer'), { recursive: true })
  mkdirSync(join(packages, '.bin'))
  symlinkSync(packagePath('.'), join(packages, '@cairn-indexer', 'cairn'))
  symlinkSync('../@cairn-indexer/cairn/dist/cli/main.js', join(packages, '.bin', 'cairn'))
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'application', scripts: { test: 'node test.mjs' } }),
  )
  writeFileSync(
    join(project, 'test.mjs'),
    `const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
    const headers = { 'content-type': 'application/json' }
    const { result } = await (await fetch(process.env.RPC_URL, { method: 'POST', headers, body })).json()
    if (Number(result) !== ${HEAD}) throw new Error(result)
    console.log('the head is right')`,
  )
  return project
}

/** Runs a script of a step in a process group of its own, which ends with the test. @returns exit code and output */
async function runStep(
  t: TestContext,
  script: string,
  { project, env = {} }: { project: string; env?: { [name: string]: string } },
): Promise<{ code: number | null; output: string }> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_TEST_CONTEXT|NODE_OPTIONS|CAIRN_)/.test(name),
  )
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: project,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  t.after(() => {
    try {
      process.kill(-child.pid!, 'SIGTERM')
    } catch {
      // The group has ended.
    }
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const [code] = (await once(child, 'exit')) as [number | null]
  return { code, output }
}

/** Replaces the port of the server, and requires that the text names it. */
function movePort(text: string, port: number): string {
  assert.ok(text.includes(PORT))
  return text.replaceAll(PORT, String(port))
}

test('the steps of the workflow for GitHub Actions serve the chain to the tests of a project', options, async (t) => {
  const { jobs } = await readExample<{ jobs: { test: { steps: Step[] } } }>('github-actions.yml')
  const steps = jobs.test.steps.filter(({ run, if: condition }) => run !== undefined && condition === undefined)
  const [install, serve, check] = steps
  assert.deepEqual([steps.length, install.run, check.run], [3, 'npm ci', 'npm test'])
  const project = makeProject(t)
  const port = await freePort()
  // The server outlives its step.
  const served = await runStep(t, movePort(serve.run!, port), { project })
  assert.equal(served.code, 0, served.output)
  const env = { RPC_URL: movePort(check.env!.RPC_URL, port) }
  const checked = await runStep(t, check.run!, { project, env })
  assert.match(checked.output, /the head is right/)
  assert.equal(checked.code, 0)
})

test('the script of the job for GitLab serves the chain to the tests of a project', options, async (t) => {
  const { test: job } = await readExample<{ test: { script: string[] } }>('gitlab-ci.yml')
  const [install, ...script] = job.script
  assert.match(install, /^npm ci\b/)
  // The runner of GitLab joins the lines into one script.
  const text = movePort(script.join('\n'), await freePort())
  const { code, output } = await runStep(t, text, { project: makeProject(t) })
  assert.match(output, /the head is right/)
  assert.equal(code, 0)
})

test('a chain that cannot be served fails the step', options, async (t) => {
  const { test: job } = await readExample<{ test: { script: string[] } }>('gitlab-ci.yml')
  const project = makeProject(t)
  writeFileSync(join(project, 'test', 'chain', 'genesis.json'), '{}')
  const text = movePort(job.script.slice(1).join('\n'), await freePort()).replace('timeout 60', 'timeout 5')
  const { code, output } = await runStep(t, text, { project })
  assert.ok(code !== 0 && !output.includes('the head is right'), output)
  assert.match(readFileSync(join(project, 'cairn.log'), 'utf8'), /^cairn: .*genesis/m)
})
