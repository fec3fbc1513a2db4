import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { packagePath } from '../../src/store/open.js'

/* Runs commands of the built program, one after the other: each line of standard input is one. After each it writes a
 * line that ends what the command has written, to both streams. */

const folder = packagePath('dist/cli')
const [, program] = /import\("\.\/(program-\w+\.js)"\)/.exec(readFileSync(`${folder}/main.js`, 'utf8')) ?? []
if (program === undefined) throw new Error(`no program in ${folder}: ${readdirSync(folder).length} files`)
type Program = (argv: readonly string[]) => Promise<number>
const { runProgram } = (await import(`${folder}/${program}`)) as { runProgram: Program }

// As main.ts chooses.
const programOf = async (command: string): Promise<Program> =>
  command === 'serve'
    ? ((await import(`${folder}/serveProgram.js`)) as { runServeProgram: Program }).runServeProgram
    : runProgram

// Each run adds a listener.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0)

for await (const line of createInterface({ input: process.stdin })) {
  const { args, env, mark } = JSON.parse(line) as { args: string[]; env: NodeJS.ProcessEnv; mark: string }
  const own = { ...process.env }
  Object.assign(process.env, env)
  const run = await programOf(args[0])
  const code = await run(args)
  for (const name of Object.keys(env)) {
    if (own[name] === undefined) delete process.env[name]
    else process.env[name] = own[name]
  }
  process.stderr.write(`${mark}\n`)
  process.stdout.write(`${mark} ${process.exitCode ?? code}\n`)
  process.exitCode = undefined
}
