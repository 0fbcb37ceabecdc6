// The grammars: comments, strings and keywords of small texts.

"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const root = path.join(__dirname, "..");
const manifest = require("../package.json");

const wasm = fs.readFileSync(path.join(root, "node_modules/vscode-oniguruma/release/onig.wasm"));
const onigLib = oniguruma.loadWASM(wasm).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));

const registry = new textmate.Registry({
  onigLib,
  loadGrammar: async (scope) => {
    const { path: file } = manifest.contributes.grammars.find((it) => it.scopeName === scope);
    return textmate.parseRawGrammar(fs.readFileSync(path.join(root, file), "utf8"), file);
  },
});

/** Returns the tokens of a text that have a scope: `text:scope`. */
async function tokens(scope, text) {
  const grammar = await registry.loadGrammar(scope);
  let stack = textmate.INITIAL;
  const found = [];
  for (const line of text.split("\n")) {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    for (const { startIndex, endIndex, scopes } of result.tokens) {
      if (scopes.length > 1) {
        found.push(`${line.slice(startIndex, endIndex).trim()}:${scopes[1]}`);
      }
    }
  }
  return found;
}

test("Promela", async () => {
  const text = "#define N 2\n/* a\nb */ active proctype P() { byte x; // do\nprintf(\"od\\n\"); x = 1 -> done }";
  const found = await tokens("source.promela", text);
  for (const wanted of [
    "#define:meta.preprocessor", "a:comment.block", "b:comment.block", "active:keyword.control",
    "proctype:keyword.control", "P:entity.name.function", "byte:storage.type", "do:comment.line",
    "od:string.quoted.double", "1:constant.numeric", "->:keyword.operator",
  ]) {
    assert.ok(found.includes(wanted), `${wanted}: ${found}`);
  }
  assert.ok(!found.some((it) => it.startsWith("done:")), `${found}`);
});

test("Murphi", async () => {
  const found = await tokens("source.murphi", "-- rule\nRULE \"end\" x = undefined ==> begin x := 1; end;");
  for (const wanted of [
    "rule:comment.line", "RULE:keyword.control", "end:string.quoted.double", "undefined:constant.language",
    "==>:keyword.operator", "begin:keyword.control", "end:keyword.control",
  ]) {
    assert.ok(found.includes(wanted), `${wanted}: ${found}`);
  }
});

test("DVE", async () => {
  const found = await tokens("source.dve", "process P { state a; init a; trans a -> a { sync c!; }; } // init");
  for (const wanted of [
    "process:keyword.control", "P:entity.name.function", "trans:keyword.control", "sync:keyword.control",
    "init:comment.line",
  ]) {
    assert.ok(found.includes(wanted), `${wanted}: ${found}`);
  }
});

test("every language of a grammar is declared", () => {
  const { languages, grammars } = manifest.contributes;
  const ids = languages.map((it) => it.id);
  assert.deepStrictEqual(grammars.filter((it) => !ids.includes(it.language)), []);
  for (const file of languages.map((it) => it.configuration).filter(Boolean)) {
    JSON.parse(fs.readFileSync(path.join(root, file), "utf8"));
  }
});
