// One split picked out in every chart of its data set.
function highlight(select) {
  const section = select.closest("section");
  const mark = () => {
    section.classList.toggle("picked", select.value !== "");
    for (const drawn of section.querySelectorAll("[data-split]")) {
      drawn.classList.toggle("pick", drawn.dataset.split === select.value);
    }
  };
  select.addEventListener("change", mark);
}

for (const root of document.querySelectorAll(".tree")) new TreeControls(root);
for (const select of document.querySelectorAll('[data-role="highlight"]')) highlight(select);
document.documentElement.dataset.ready = "yes";
