#!/usr/bin/env node
/* The program starts here. A server has a bundle of its own (scripts/bundle.mjs): what it shares with other commands is not
   in files of their own then, and it starts in a tenth less processor time. */

const isServer = process.argv[2] === 'serve'
const { runProgram } = isServer ? await import('./serveProgram.js') : await import('./program.js')
process.exitCode = await runProgram(process.argv.slice(2))
