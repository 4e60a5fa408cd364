// URI templates against the examples printed in RFC 6570, and against properties of expansion and matching.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UriTemplate } from "halyard";
import { cpuTime } from "../support/cpu-time.ts";

const values = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null,
};

/** Section of the RFC, then pairs of template and expansion. */
const printed: Record<string, [string, string][]> = {
  "1.2": [
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{+hello}", "Hello%20World!"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["X{#var}", "X#value"],
    ["map?{x,y}", "map?1024,768"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{+path,x}/here", "/foo/bar,1024/here"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["X{.x,y}", "X.1024.768"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{+path:6}/here", "/foo/b/here"],
    ["{keys*}", "semi=%3B,dot=.,comma=%2C"],
    ["{+keys*}", "semi=;,dot=.,comma=,"],
    ["{#path:6}/here", "#/foo/b/here"],
    ["{/var:1,var}", "/v/value"],
    ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
    ["{;hello:5}", ";hello=Hello"],
    ["{&var:3}", "&var=val"],
  ],
  "3.2.1": [
    ["{count}", "one,two,three"],
    ["{count*}", "one,two,three"],
    ["{/count}", "/one,two,three"],
    ["{/count*}", "/one/two/three"],
    ["{;count}", ";count=one,two,three"],
    ["{;count*}", ";count=one;count=two;count=three"],
    ["{?count}", "?count=one,two,three"],
    ["{?count*}", "?count=one&count=two&count=three"],
    ["{&count*}", "&count=one&count=two&count=three"],
  ],
  "3.2.2": [
    ["{half}", "50%25"],
    ["O{empty}X", "OX"],
    ["O{undef}X", "OX"],
    ["?{x,empty}", "?1024,"],
    ["?{x,undef}", "?1024"],
    ["?{undef,y}", "?768"],
    ["{var:3}", "val"],
    ["{var:30}", "value"],
    ["{list}", "red,green,blue"],
    ["{list*}", "red,green,blue"],
    ["{keys}", "semi,%3B,dot,.,comma,%2C"],
  ],
  "3.2.3": [
    ["{+half}", "50%25"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["O{+empty}X", "OX"],
    ["O{+undef}X", "OX"],
    ["up{+path}{var}/here", "up/foo/barvalue/here"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{+list}", "red,green,blue"],
    ["{+list*}", "red,green,blue"],
    ["{+keys}", "semi,;,dot,.,comma,,"],
  ],
  "3.2.4": [
    ["{#hello}", "#Hello%20World!"],
    ["{#half}", "#50%25"],
    ["foo{#empty}", "foo#"],
    ["foo{#undef}", "foo"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["{#list}", "#red,green,blue"],
    ["{#list*}", "#red,green,blue"],
    ["{#keys}", "#semi,;,dot,.,comma,,"],
    ["{#keys*}", "#semi=;,dot=.,comma=,"],
  ],
  "3.2.5": [
    ["{.who}", ".fred"],
    ["{.who,who}", ".fred.fred"],
    ["{.half,who}", ".50%25.fred"],
    ["www{.dom*}", "www.example.com"],
    ["X{.var:3}", "X.val"],
    ["X{.empty}", "X."],
    ["X{.undef}", "X"],
    ["X{.list}", "X.red,green,blue"],
    ["X{.list*}", "X.red.green.blue"],
    ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
    ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
    ["X{.empty_keys}", "X"],
    ["X{.empty_keys*}", "X"],
  ],
  "3.2.6": [
    ["{/who}", "/fred"],
    ["{/who,who}", "/fred/fred"],
    ["{/half,who}", "/50%25/fred"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{/var,empty}", "/value/"],
    ["{/var,undef}", "/value"],
    ["{/list}", "/red,green,blue"],
    ["{/list*}", "/red/green/blue"],
    ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
    ["{/keys*}", "/semi=%3B/dot=./comma=%2C"],
  ],
  "3.2.7": [
    ["{;who}", ";who=fred"],
    ["{;half}", ";half=50%25"],
    ["{;empty}", ";empty"],
    ["{;v,empty,who}", ";v=6;empty;who=fred"],
    ["{;v,bar,who}", ";v=6;who=fred"],
    ["{;x,y,undef}", ";x=1024;y=768"],
    ["{;list}", ";list=red,green,blue"],
    ["{;list*}", ";list=red;list=green;list=blue"],
    ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
    ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"],
  ],
  "3.2.8": [
    ["{?who}", "?who=fred"],
    ["{?half}", "?half=50%25"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?var:3}", "?var=val"],
    ["{?list}", "?list=red,green,blue"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
    ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
  ],
  "3.2.9": [
    ["{&who}", "&who=fred"],
    ["{&half}", "&half=50%25"],
    ["{&x,y,empty}", "&x=1024&y=768&empty="],
    ["{&x,y,undef}", "&x=1024&y=768"],
    ["{&list}", "&list=red,green,blue"],
    ["{&list*}", "&list=red&list=green&list=blue"],
    ["{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"],
    ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"],
  ],
};

/** Template and the position of what is wrong with it. */
const invalid: [string, number][] = [
  ["a{b", 1],
  ["a}b", 1],
  ["{}", 1],
  ["{a{b}}", 2],
  ["{?}", 2],
  ["{a,}", 3],
  ["{?a,,b}", 4],
  ["{a b}", 2],
  ["{ a}", 1],
  ["{a-b}", 2],
  ["{.a.}", 3],
  ["{a..b}", 2],
  ["{%4}", 1],
  ["{é}", 1],
  ["{=a}", 1],
  ["{,a}", 1],
  ["{!a}", 1],
  ["{@a}", 1],
  ["{|a}", 1],
  ["{$a}", 1],
  ["{/?a}", 2],
  ["{a:}", 2],
  ["{a:0}", 2],
  ["{a:07}", 2],
  ["{a:10000}", 2],
  ["{a:x}", 2],
  ["{a:3*}", 4],
  ["{a*:3}", 3],
  ["{a**}", 3],
  ["{a|b}", 2],
  ["%", 0],
  ["a%4g", 1],
  ...[" ", '"', "<", ">", "\\", "^", "`", "|", "\0", "\n", "\x7f", "\x85", "\ud800", "\ufdd0", "\uffff"].map(
    (char): [string, number] => [`x${char}{a}`, 1],
  ),
];

describe("RES-TEMPLATES-RFC6570: expansion", () => {
  for (const [section, table] of Object.entries(printed)) {
    test.each(table)(
      `UriTemplate.expand() prints what section ${section} prints for %s`,
      (template, expected) => {
        expect(new UriTemplate(template).expand(values)).toBe(expected);
      },
    );
  }

  test.each(invalid)("UriTemplate() refuses %j and names the position", (template, position) => {
    const construct = (): UriTemplate => new UriTemplate(template);
    expect(construct).toThrow(SyntaxError);
    expect(construct).toThrow(new RegExp(` at position ${position}$`));
    expect(construct).toThrow(JSON.stringify(template));
  });

  test("UriTemplate.variables lists each name once in order of appearance", () => {
    expect(new UriTemplate("/{b,a}{?c*,a:3,x.y,%41}").variables).toEqual(["b", "a", "c", "x.y", "%41"]);
    expect(new UriTemplate("plain").variables).toEqual([]);
  });

  test("UriTemplate.expand() encodes literals outside ASCII and keeps the apostrophe and escapes", () => {
    expect(new UriTemplate("caf\u00e9/'%20[{a}]'").expand({ a: "b" })).toBe("caf%C3%A9/'%20[b]'");
  });

  test("UriTemplate.expand() lets escapes and brackets through where reserved characters pass", () => {
    expect(new UriTemplate("{+a}").expand({ a: "[%2F]%zz%%41" })).toBe("[%2F]%25zz%25%41");
    expect(new UriTemplate("{a}").expand({ a: "[%2F]" })).toBe("%5B%252F%5D");
  });

  test("UriTemplate.expand() counts characters, not bytes or surrogates, for a prefix", () => {
    expect(new UriTemplate("{a:1}").expand({ a: "\u{1d11e}x" })).toBe("%F0%9D%84%9E");
    expect(new UriTemplate("{+a:2}").expand({ a: "%C3%A9%2Fx" })).toBe("%C3%A9%2F");
  });

  test("UriTemplate.expand() refuses a prefix of a list or map", () => {
    expect(() => new UriTemplate("{a:1}").expand({ a: ["x"] })).toThrow(TypeError);
    expect(() => new UriTemplate("{+a:1}").expand({ a: { x: "y" } })).toThrow(TypeError);
  });

  test("UriTemplate.expand() ignores inherited properties", () => {
    expect(new UriTemplate("a{constructor}{/toString}").expand({})).toBe("a");
  });

  test("UriTemplate.expand() takes an empty list for an undefined variable", () => {
    expect(new UriTemplate("a{?b*,c}").expand({ b: [], c: {} })).toBe("a");
  });
});

/** Template, URI, and the match; undefined for none. */
const matches: [string, string, ReturnType<UriTemplate["match"]>][] = [
  ["users://{id}/posts/{post}", "users://7/posts/a%20b", { id: "7", post: "a b" }],
  ["users://{id}", "users://7/8", undefined],
  ["users://{id}", "user://7", undefined],
  ["users://{id}", "users://", {}],
  ["plain", "plain", {}],
  ["plain", "plainer", undefined],
  ["caf\u00e9", "caf%C3%A9", {}],
  ["{x,y}", "1,2", { x: "1", y: "2" }],
  ["{x,y}", "1,", { x: "1", y: "" }],
  ["{x,y}", ",2", { x: "", y: "2" }],
  ["{x,y}", "1", { x: "1" }],
  ["{x,y}", "1,2,3", undefined],
  ["{a}{b}", "abc", { a: "abc" }],
  ["file:///{+path}", "file:///a/b?c#d", { path: "a/b?c#d" }],
  ["{+p*}", "a=1,a=2", { p: ["a=1", "a=2"] }],
  ["{+a,b}", "x,y,z", { a: "x", b: "y,z" }],
  ["file:///{+path}{?rev}", "file:///a/b?rev=2", { path: "a/b", rev: "2" }],
  ["file:///{+path}{?rev}", "file:///a/b?c", { path: "a/b?c" }],
  ["{+a}x{+b}x", "axbxcx", { a: "axb", b: "c" }],
  ["p{#f}", "p#a/b", { f: "a/b" }],
  ["p{#f}", "p#", { f: "" }],
  ["p{#f}", "p", {}],
  ["n{.e}", "n.tar.gz", { e: "tar.gz" }],
  ["n{.e,f}", "n.tar.gz", { e: "tar", f: "gz" }],
  ["n{.e*}", "n.tar.gz", { e: ["tar", "gz"] }],
  ["{/a,b}/c", "/x/c", { a: "x" }],
  ["{/p*}", "/a//b", { p: ["a", "", "b"] }],
  ["{/p*}", "", {}],
  ["{/p*}", "/a=1/b=2", { p: { a: "1", b: "2" } }],
  ["{p*}", "a=", { p: { a: "" } }],
  ["{p*}", "=", { p: { "": "" } }],
  ["X{.p*}", "X.a=...b=", { p: { a: "..", b: "" } }],
  ["{?q*}", "?q=1&a=2", { q: { q: "1", a: "2" } }],
  ["{;k*}{a}", ";k;k;kx", { k: ["", "", ""], a: "x" }],
  ["{+p*}", "a=1,b=2", { p: { a: "1", b: "2" } }],
  ["{+p*}", "a=1,b", { p: ["a=1", "b"] }],
  ["{/p*}", "/a=1/b", undefined],
  ["{/p*}", "/a=1=2", undefined],
  ["{;a,b}", ";a;b=2", { a: "", b: "2" }],
  ["{;a}", ";ab", undefined],
  ["{?a,b}", "?b=2", { b: "2" }],
  ["{?a,b}", "?b=2&a=1", undefined],
  ["{?a}", "?a", undefined],
  ["{?a}", "?a=1&a=2", undefined],
  ["{?q*,r}", "?q=1&q=2&r=3", { q: ["1", "2"], r: "3" }],
  ["{?q*,r}", "?r=3", { r: "3" }],
  ["{?q*,r}", "?rr=1&x=2&r=3", { q: { rr: "1", x: "2" }, r: "3" }],
  ["{?q*}{&r}", "?q=1&r=3", { q: ["1"], r: "3" }],
  ["{?q*}", "?x=1&x=2", undefined],
  ["{?id}{&rest*}", "?id=1&__proto__=2", { id: "1", rest: JSON.parse('{"__proto__":"2"}') }],
  ["{#a,b:1}", "#x,yz", { a: "x,yz" }],
  ["{#a,b:1}", "#x,y", { a: "x", b: "y" }],
  ["{#a,b:1}", "#x,y,z", { a: "x,y,z" }],
  ["{+p*}", "a=1,a=2", { p: ["a=1", "a=2"] }],
  ["{+a,b}", "x,y,z", { a: "x", b: "y,z" }],
  ["x{.a,b:1}", "x.a.bc", { a: "a.bc" }],
  ["x{.a*}", "x.k.l=1", { a: { "k.l": "1" } }],
  ["{v:3}", "abc", { v: "abc" }],
  ["{v:3}", "abcd", undefined],
  ["{v:3}", "%C3%A9%C3%A9%C3%A9", { v: "\u00e9\u00e9\u00e9" }],
  ["{v:3}", "%C3%A9%C3%A9%C3%A9a", undefined],
  ["{v:3}{w}", "abcde", { v: "abc", w: "de" }],
  ["{/v:1,w}", "/value", { w: "value" }],
  ["{/v:1,v}", "/v/value", { v: "value" }],
  ["{/v:1,v}", "/x/value", undefined],
  ["{.v,v}", ".a.a", { v: "a" }],
  ["{.v,v}", ".a.b", undefined],
  ["{v}", "%", undefined],
  ["{v}", "%4", undefined],
  ["{v}", "%zz", undefined],
  ["{v}", "%C3", undefined],
  ["{v}", "%c3%a9", { v: "\u00e9" }],
  ["{v}", "\u00e9", undefined],
  ["{v}", "a\0", undefined],
];

describe("RES-TEMPLATES-RFC6570: matching", () => {
  test.each(matches)("UriTemplate.match() reads %s against %j", (template, uri, expected) => {
    expect(new UriTemplate(template).match(uri)).toEqual(expected);
  });

  test("UriTemplate.match() is safe for variables named like properties of Object", () => {
    const found = new UriTemplate("{__proto__}/{constructor}/{toString}").match("a/b/");
    expect(Object.getPrototypeOf(found)).toBe(null);
    expect(Object.entries(found ?? {})).toEqual([
      ["constructor", "b"],
      ["__proto__", "a"],
    ]);
    expect(found?.["toString"]).toBe(undefined);
    const pairs = new UriTemplate("{?q*}").match("?__proto__=1&constructor=2")?.["q"];
    expect(Object.getPrototypeOf(pairs)).toBe(null);
    expect(Object.entries(pairs ?? {})).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
    ]);
  });
});

const text = fc.string({ unit: "grapheme" });
const filled = fc.string({ unit: "grapheme", minLength: 1 });
/** Escapes pass through reserved expansion, so a value with a percent sign need not come back. */
const unescaped = filled.filter((value) => !value.includes("%"));
const list = fc.array(text, { minLength: 1, maxLength: 4 });
const undotted = fc.array(
  text.filter((value) => !value.includes(".")),
  { minLength: 1, maxLength: 4 },
);
const pairs = fc.dictionary(
  text.filter((key) => key !== "a" && key !== "b"),
  text,
  { minKeys: 1, maxKeys: 4 },
);
const anything = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
  fc.string({ unit: fc.constantFrom(..."{}+#./;?&=,:*%ab14-'é\0\ud800 ") }),
);

/** Templates with one reading per expansion, and values that they can tell apart. */
const unambiguous: [string, Record<string, fc.Arbitrary<string | string[] | Record<string, string>>>][] = [
  ["x://{a}/{b}", { a: filled, b: filled }],
  ["{a,b}", { a: text, b: filled }],
  ["x:{+a}", { a: unescaped }],
  ["x{#a}", { a: unescaped }],
  ["x{.a}", { a: text }],
  ["x{/a,b}/y", { a: text, b: text }],
  ["x{;a,b}", { a: text, b: text }],
  ["x{?a,b}", { a: text, b: text }],
  ["x?y=z{&a,b}", { a: text, b: text }],
  ["x{/a}{?b}", { a: text, b: text }],
  ["x{/a*}{?b*}", { a: list, b: list }],
  ["x{/a*}{?b*}", { a: pairs, b: pairs }],
  ["x{.a*}", { a: undotted }],
  ["x{;a*,b}", { a: list, b: text }],
  ["x{;a*,b}", { a: pairs, b: text }],
  ["x{?a*,b}", { a: list, b: text }],
  ["x{?a,b*}", { a: text, b: pairs }],
  ["x{?a}{&b*}", { a: text, b: pairs }],
];

/** A random template of distinct variables, with values for some of them. */
const expansions = fc
  .array(
    fc.record({
      before: fc.constantFrom("", "x", "/", "a.b", "?"),
      operator: fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&"),
      variables: fc.array(
        fc.record({
          modifier: fc.constantFrom("", "", "*", ":1", ":3"),
          members: fc.array(
            fc.string({ unit: fc.constantFrom(..."ab\u00e9 -,./;?&=#+:@!*~"), maxLength: 5 }),
            {
              maxLength: 3,
            },
          ),
          pairs: fc.dictionary(
            fc.constantFrom("k", "n,o", "p/q", "\u00e9="),
            fc.constantFrom("", "x", "y.z,"),
            {
              minKeys: 1,
            },
          ),
          isRecord: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { maxLength: 3 },
  )
  .map((parts) => {
    const given: Record<string, string | string[] | Record<string, string>> = {};
    const source = parts.map(({ before, operator, variables }, part) => {
      const isReserved = operator === "+" || operator === "#";
      const specs = variables.map(({ modifier, members, pairs: record, isRecord }, index) => {
        const name = `v${part}${index}`;
        // In a reserved expression nothing tells where a member ends, so records are left to the others.
        const many =
          isRecord && !isReserved
            ? Object.fromEntries(Object.entries(record).map(([key, member]) => [name + key, member]))
            : members;
        const value = modifier === "*" ? many : members[0];
        if (value !== undefined) given[name] = value;
        return name + modifier;
      });
      return `${before}{${operator}${specs.join(",")}}`;
    });
    return { source: source.join(""), given };
  });

describe("RES-TEMPLATES-RFC6570: properties", () => {
  test.each(unambiguous)(
    "UriTemplate.match() gives back what UriTemplate.expand() was given for %s",
    (source, shape) => {
      const template = new UriTemplate(source);
      fc.assert(
        fc.property(fc.record(shape), (given) => {
          expect(template.match(template.expand(given))).toEqual(given);
        }),
      );
    },
  );

  test.each(unambiguous)("UriTemplate.match() leaves out the absent variables of %s", (source, shape) => {
    const template = new UriTemplate(source);
    fc.assert(
      fc.property(fc.record(shape, { requiredKeys: [] }), (given) => {
        const uri = template.expand(given);
        const found = template.match(uri);
        expect(found).toBeDefined();
        expect(template.expand(found ?? {})).toBe(uri);
      }),
    );
  });

  test("UriTemplate.match() finds a reading of every expansion, and one that expands to the same URI", () => {
    fc.assert(
      fc.property(expansions, ({ source, given }) => {
        const template = new UriTemplate(source);
        const uri = template.expand(given);
        const found = template.match(uri);
        expect(found).toBeDefined();
        // A reserved variable that takes an escape of its neighbour writes the character itself.
        const written = /\{[+#]/.test(source) ? decodeURIComponent : String;
        expect(written(template.expand(found ?? {}))).toBe(written(uri));
      }),
      { numRuns: 2000 },
    );
  });

  test("UriTemplate() throws nothing but SyntaxError", () => {
    fc.assert(
      fc.property(anything, (source) => {
        try {
          expect(new UriTemplate(source).source).toBe(source);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("UriTemplate() takes a literal of 10 MB and refuses a variable name of that length", () => {
    const long = "a".repeat(1e7);
    expect(new UriTemplate(long).match(long)).toEqual({});
    expect(() => new UriTemplate(`{${long}}`)).toThrow(SyntaxError);
  });

  test("UriTemplate.match() never throws", () => {
    const templates = ["{a}{b:2}", "{+a*}", "{#a,b}", "{.a*,b}", "{/a*}", "{;a*,b}", "{?a*,b}{&c}", "a{b}"];
    fc.assert(
      fc.property(fc.constantFrom(...templates), anything, (source, uri) => {
        const template = new UriTemplate(source);
        expect(() => template.match(uri)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });

  test("UriTemplate.match() is done with twelve hostile inputs of 100 kB in a moment", async () => {
    const templates = ["{a}{b}{c}", "{/p*}", "{+a}x{+b}x", "{?q*,r}"].map(
      (source) => new UriTemplate(source),
    );
    const inputs = ["x".repeat(1e5), "a,".repeat(5e4), "%".repeat(1e5)];
    const cost = await cpuTime(() => {
      for (const template of templates) for (const input of inputs) template.match(input);
    });
    // What grows with the square would take minutes.
    expect(cost).toBeLessThan(2000);
  });

  test("UriTemplate.match() is linear as well for 100 kB that match", async () => {
    const hostile: [string, string, string][] = [
      ["{/p*}", "", "/a"],
      ["{?q*,r}", "?q=1", "&q=1"],
      ["{.a*}", "", ".a"],
      ["{;k*}", "", ";k"],
      ["{+a*}", "a", ",%25"],
      ["{a:9999}{b}", "", "ab"],
    ];
    const cost = await cpuTime(() => {
      for (const [source, head, unit] of hostile) {
        const uri = head + unit.repeat(1e5 / unit.length);
        expect(new UriTemplate(source).match(uri)).toBeDefined();
      }
    });
    expect(cost).toBeLessThan(2000);
  });
});
