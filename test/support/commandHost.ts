import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ended } from './cairn.js'

type Environment = { [name: string]: string }

/** Runs commands of the built program. */
export interface CommandHost {
  /** Runs a command to its end, as `runCairn` does. */
  run(args: readonly string[], env?: Environment): Promise<Ended>
  /** As `run`, of a command that must succeed: what it wrote to standard output. */
  runOk(args: readonly string[], env?: Environment): Promise<string>
}

/** One process for all commands of a file, in turn: each is spared the start of a process, which takes more processor
 *  time than most of them. For commands that end, read no standard input, and are not what is tested about a process: a
 *  `serve` that is not refused never ends. The process starts with the first command; it ends with `ending`, and must
 *  end well. */
export function hostCommands(ending: { after(end: () => Promise<void>): void }): CommandHost {
  let host: ReturnType<typeof startHost> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let runs = 0
  ending.after(async () => {
    await last
    await host?.end()
  })
  const run: CommandHost['run'] = (args, env = {}) => {
    host ??= startHost()
    const { send } = host
    const ended = last.then(() => send(args, env, `\0end of command ${runs++}`))
    last = ended.catch(() => {})
    return ended
  }
  const runOk: CommandHost['runOk'] = async (args, env) => {
    const { code, stdout, stderr } = await run(args, env)
    assert.equal(code, 0, `cairn ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  return { run, runOk }
}

/** Whether a text ends with the line of a mark. */
function isMarked(text: string, mark: string): boolean {
  return text.endsWith('\n') && text.slice(-mark.length - 5).includes(mark)
}

function startHost() {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CAIRN_'))
  const path = fileURLToPath(new URL('./commandHostProcess.js', import.meta.url))
  const child = spawn(process.execPath, [path], { env: Object.fromEntries(inherited) })
  const exited = once(child, 'exit')
  const written = { stdout: '', stderr: '' }
  let onOutput = () => {}
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
      onOutput()
    })
  }
  const send = (args: readonly string[], env: Environment, mark: string) =>
    new Promise<Ended>((resolve, reject) => {
      onOutput = () => {
        if (![written.stdout, written.stderr].every((text) => isMarked(text, mark))) return
        const [stdout, code] = written.stdout.split(mark)
        const [stderr] = written.stderr.split(mark)
        Object.assign(written, { stdout: '', stderr: '' })
        resolve({ code: Number(code), signal: null, stdout, stderr })
      }
      exited.then(([code]) => reject(new Error(`ended with ${code} in cairn ${args.join(' ')}: ${written.stderr}`)))
      child.stdin.write(`${JSON.stringify({ args, env, mark })}\n`)
    })
  const end = async () => {
    child.stdin.end()
    const [code] = await exited
    assert.equal(code, 0, written.stderr)
  }
  return { send, end }
}
