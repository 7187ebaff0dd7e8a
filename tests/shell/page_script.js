// Runs the script of a page of csan report --html where there is no browser, and prints the text that
// it makes: title, list and the finding that is shown. Elements are no more than what the page uses.
//   node page_script.js PAGE [#race-N]
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");

class Node {}
class Element extends Node {
    constructor(name) {
        super();
        Object.assign(this, { name, children: [], attributes: {}, value: "", clientWidth: 900,
                              classList: { toggle() {} } });
    }
    setAttribute(key, value) { this.attributes[key] = String(value); }
    getAttribute(key) { return this.attributes[key] ?? null; }
    removeAttribute(key) { delete this.attributes[key]; }
    append(...children) { this.children.push(...children); }
    replaceChildren(...children) { this.children = children; }
    addEventListener() {}
    get namespaceURI() { return "svg"; }
    get textContent() {
        return this.children.map(child => child instanceof Node ? child.textContent : child).join("");
    }
    set textContent(text) { this.children = [text]; }
    querySelectorAll(name) {
        return this.children.filter(child => child instanceof Node).flatMap(child =>
            [...(child.name === name ? [child] : []), ...child.querySelectorAll(name)]);
    }
    // A line for each element that is one on the page.
    print() {
        const block = /^(h\d|p|li|tr|section|figure|pre|div|summary|svg|g)$/.test(this.name);
        const style = this.attributes.class ? `.${this.attributes.class}` : "";
        const text = this.children.map(child => child instanceof Node ? child.print() : child).join("");
        return this.name === "td" ? `: ${text}` : block ? `\n${this.name}${style} ${text}` : text;
    }
}

const elements = {};
for (const [, id] of page.matchAll(/ id="([^"]+)"/g)) elements[id] = new Element("room");
for (const id of ["report-data", "surroundings-data", "sources-data"])
    elements[id].textContent = page.match(new RegExp(`id="${id}">([^]*?)</script>`))[1];
const document = {
    getElementById: id => elements[id], addEventListener() {}, body: new Element("body"), title: "",
    createElement: name => new Element(name), createElementNS: (space, name) => new Element(name),
};
const script = page.match(/<script>\n([^]*)<\/script>/)[1];
vm.runInNewContext(script, { document, Node, console, location: { hash: process.argv[3] || "" },
                             window: { innerWidth: 1200, addEventListener() {} },
                             requestAnimationFrame: run => run() });
console.log(`title ${document.title}`);
for (const id of ["title", "about", "shown", "list", "race"])
    console.log(`== ${id} ${elements[id].print()}`);
